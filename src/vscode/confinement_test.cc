// What a review says that only the window knows: what else is installed in it.
#include "vscode/confinement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "vscode/initial_data.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ConfinementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "confinement-XXXXXX").string();
    folder_ = fs::canonical(::mkdtemp(name.data()));
    auto found = find_places();
    ASSERT_TRUE(found.ok());
    places_.data = found->data;
    places_.home = at("home");
    places_.config = at("home/.config/bulkhead");
    places_.state = at("home/.local/state/bulkhead");
    places_.organisation = at("none.json");
    for (const char* each : {"home", "work", "server", "builtin", "logs"})
      fs::create_directories(folder_ / each);
    std::ofstream(folder_ / "node") << "";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  Json uri(const std::string& name) const {
    return {{"$mid", 1}, {"path", at(name)}, {"scheme", "file"}};
  }

  // An installed extension, and how the workbench describes it.
  Json install(const std::string& name, const Json& more, const Json& manifest = nullptr) {
    Json packaged = {{"publisher", "acme"}, {"name", name}, {"version", "1.0.0"}, {"main", "./x"}};
    packaged.update(more);
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "package.json") << packaged.dump();
    if (!manifest.is_null()) std::ofstream(folder_ / name / "bulkhead.json") << manifest.dump();
    packaged["identifier"] = {{"value", "acme." + name}};
    packaged["extensionLocation"] = uri(name);
    return packaged;
  }

  Result<InitialData> data(const Json& own, const Json& other) {
    const std::string body = Json{
        {"environment",
         {{"globalStorageHome", uri("storage")}, {"workspaceStorageHome", uri("storages")}}},
        {"workspace", {{"id", "w"}}},
        {"extensions", {{"allExtensions", {own, other}}, {"myExtensions", {own["identifier"]}}}},
        {"logsLocation",
         uri("logs")}}.dump();
    return InitialData::parse({reinterpret_cast<const uint8_t*>(body.data()), body.size()});
  }

  Result<Confinement> confined(const InitialData& data, std::vector<std::string> shipped = {}) {
    return confine({places_,
                    data.identity(),
                    {at("work")},
                    at("server"),
                    at("builtin"),
                    std::move(shipped),
                    at("node")});
  }

  Review review(const Json& own, const Json& other) {
    const auto data = this->data(own, other);
    EXPECT_TRUE(data.ok());
    if (!data.ok()) return {};
    auto confinement = confined(*data);
    EXPECT_TRUE(confinement.ok()) << to_string(confinement.error());
    if (!confinement.ok()) return {};
    Review review = confinement->review;
    for (std::string& each : contested_settings(*confinement, *data))
      review.cannot.push_back(std::move(each));
    return review;
  }

  fs::path folder_;
  Places places_;
};

Json settings(std::initializer_list<const char*> keys) {
  Json properties;
  for (const char* key : keys) properties[key] = Json::object();
  return {{"contributes", {{"configuration", {{"properties", properties}}}}}};
}

TEST_F(ConfinementTest, TellsThatABuiltInApiIsNotThere) {
  const Json other = install("other", Json::object());
  EXPECT_THAT(review(install("tool", {{"extensionDependencies", {"vscode.git"}}}), other).cannot,
              Contains(AllOf(HasSubstr("the API of vscode.git"),
                             HasSubstr("bulkhead.compartments.builtin"))));
  EXPECT_THAT(review(install("tool", Json::object()), other).cannot,
              Not(Contains(HasSubstr("the API of"))));
}

TEST_F(ConfinementTest, TellsWhichSettingsOthersDeclareToo) {
  const Json other = install("other", settings({"a.one", "a.two", "a.three", "a.four", "b"}));
  const auto sees = HasSubstr("See or change what you set for");
  EXPECT_THAT(review(install("tool", settings({"mine"})), other).cannot, Not(Contains(sees)));
  const Json both = settings({"a.one", "a.two", "a.three", "a.four", "mine"});
  EXPECT_THAT(review(install("tool", both), other).cannot,
              Contains(HasSubstr("a.four, a.one, a.three and 1 more, which acme.other declares")));
  const Json manifest = {
      {"manifest", 1}, {"extension", "acme.tool"}, {"vscode", {"@editor", "settings-shared"}}};
  const Review granted = review(install("tool", both, manifest), other);
  EXPECT_THAT(granted.cannot, Not(Contains(sees)));
  EXPECT_THAT(granted.unusual,
              Contains(HasSubstr("settings that it and other extensions declare")));
}

TEST_F(ConfinementTest, AsksOnlyWhereThereIsSomethingToDecide) {
  const Json other = install("other", Json::object());
  const auto confinement = [&](const Json& more, const Json& manifest = nullptr) {
    const auto data = this->data(install("tool", more, manifest), other);
    EXPECT_TRUE(data.ok());
    auto made = confined(*data);
    EXPECT_TRUE(made.ok());
    return std::move(made).value();
  };
  const auto manifest = [](const Json& permissions, const Json& network) {
    return Json{{"manifest", 1},
                {"extension", "acme.tool"},
                {"files", {{"read", {"${workspace}", "@system"}}}},
                {"network", network},
                {"vscode", permissions}};
  };
  const Confinement plain = confinement(Json::object());
  EXPECT_TRUE(plain.is_usual()) << "it has no manifest";
  EXPECT_TRUE(confinement(Json::object(), manifest({"@editor"}, Json::array())).is_usual());
  EXPECT_FALSE(confinement(Json::object(), manifest({"terminal"}, Json::array())).is_usual());
  EXPECT_FALSE(confinement(Json::object(), manifest({"typing"}, Json::array())).is_usual());
  EXPECT_FALSE(
      confinement(Json::object(), manifest({"@editor"}, {"api.example.com:443"})).is_usual());
  // What was started so counts as agreed to: an update is compared with it.
  fs::remove(folder_ / "tool" / "bulkhead.json");
  ASSERT_TRUE(approve(plain, places_).ok());
  const Confinement again = confinement(Json::object());
  EXPECT_EQ(again.reason(), ReviewReason::kNone);
  EXPECT_FALSE(again.is_usual());
  EXPECT_TRUE(confinement({{"version", "2.0.0"}}).is_usual()) << "other code, and no more";
  const Confinement wider =
      confinement({{"version", "3.0.0"}}, manifest({"@editor"}, {"api.example.com:443"}));
  EXPECT_EQ(wider.reason(), ReviewReason::kWidened);
  EXPECT_FALSE(wider.is_usual());
  // An organisation's policy.
  fs::remove(folder_ / "tool" / "bulkhead.json");
  std::ofstream(at("policy.json")) << R"({"blocklist": 1, "groups": []})";
  places_.organisation = at("policy.json");
  EXPECT_FALSE(confinement({{"version", "4.0.0"}}).is_usual());
}

// It would get the built-in's storage and secrets, which VS Code tells apart by ids.
TEST_F(ConfinementTest, RefusesABuiltInsIdElsewhere) {
  const std::vector<std::string> shipped = {"acme.tool", "vscode.git"};
  const auto refuses = [&](const Json& package) {
    const auto data = this->data(package, install("other", Json::object()));
    EXPECT_TRUE(data.ok());
    const auto confinement = confined(*data, shipped);
    EXPECT_FALSE(fs::exists(folder_ / "storage" / "acme.tool") && !confinement.ok());
    return confinement.ok() ? "" : confinement.error().message;
  };
  Json loud = install("tool", {{"name", "Tool"}, {"publisher", "ACME"}});
  loud["identifier"] = {{"value", "ACME.Tool"}};
  for (const Json& package : {loud, install("tool", Json::object())})
    EXPECT_THAT(refuses(package),
                AllOf(HasSubstr("/tool has the id of acme.tool"), HasSubstr("uninstall it")));
  // A link to the built-in one is somebody's, and so is what lies below or beside its folder.
  fs::create_directories(folder_ / "builtin" / "deep");
  fs::create_directories(folder_ / "builtin2");
  for (const char* place : {"linked", "builtin/deep/tool", "builtin2/tool", "builtin/../tool"}) {
    if (!fs::exists(folder_ / place)) fs::create_symlink(folder_ / "tool", folder_ / place);
    Json elsewhere = install("tool", Json::object());
    elsewhere["extensionLocation"] = uri(place);
    EXPECT_THAT(refuses(elsewhere), HasSubstr("has the id of acme.tool")) << place;
  }
  EXPECT_EQ(refuses(install("another", Json::object())), "");
  // The built-in ones lie there as links (vscode/launcher/extensions.mjs), here below another name.
  fs::create_symlink(folder_ / "tool", folder_ / "builtin" / "tool");
  fs::create_symlink(folder_ / "builtin", folder_ / "links");
  for (const char* place : {"builtin/tool", "links/tool"}) {
    Json builtin = install("tool", Json::object());
    builtin["extensionLocation"] = uri(place);
    EXPECT_EQ(refuses(builtin), "") << place;
  }
}

// VS Code's own extensions run under bulkhead's manifests without a review; nobody else's do.
TEST_F(ConfinementTest, AsksNobodyAboutABuiltInExtension) {
  const auto reason = [&](const std::string& place, std::vector<std::string> shipped) {
    Json package = install("emmet", {{"publisher", "vscode"}});
    package["identifier"] = {{"value", "vscode.emmet"}};
    package["extensionLocation"] = uri(place);
    const auto data = this->data(package, install("other", Json::object()));
    EXPECT_TRUE(data.ok());
    const auto confinement = confined(*data, std::move(shipped));
    EXPECT_TRUE(confinement.ok()) << to_string(confinement.error());
    return confinement.ok() ? confinement->reason() : ReviewReason::kNew;
  };
  fs::create_symlink(folder_ / "emmet", folder_ / "builtin" / "emmet");
  EXPECT_EQ(reason("builtin/emmet", {"vscode.emmet"}), ReviewReason::kNone);
  EXPECT_EQ(reason("emmet", {}), ReviewReason::kNew);
}

}  // namespace
}  // namespace bulkhead
