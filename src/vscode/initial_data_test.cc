// Shapes as VS Code 1.139 sends them, shortened.
#include "vscode/initial_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json uri(const std::string& path) {
  return {{"$mid", 1},
          {"fsPath", path},
          {"external", "vscode-remote://127.0.0.1:9100" + path},
          {"path", path},
          {"scheme", "vscode-remote"},
          {"authority", "127.0.0.1:9100"}};
}

Json identifier(const std::string& id) {
  std::string lower = id;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return {{"value", id}, {"_lower", lower}};
}

Json real() {
  const auto described = [](const std::string& id, const std::string& folder) {
    return Json{{"name", id.substr(id.find('.') + 1)}, {"publisher", id.substr(0, id.find('.'))},
                {"identifier", identifier(id)},        {"isBuiltin", false},
                {"extensionLocation", uri(folder)},    {"main", "./out/extension.js"}};
  };
  return {
      {"commit", "f1d2"},
      {"version", "1.139.1"},
      {"parentPid", 4711},
      {"environment",
       {{"isExtensionDevelopmentDebug", false},
        {"appRoot", uri("/opt/code")},
        {"globalStorageHome", uri("/data/User/globalStorage")},
        {"workspaceStorageHome", uri("/data/User/workspaceStorage")}}},
      {"workspace", {{"configuration", nullptr}, {"id", "-56d8a2f"}, {"name", "ws"}}},
      {"remote",
       {{"isRemote", true},
        {"authority", "127.0.0.1:9100"},
        {"connectionData", {{"host", "127.0.0.1"}, {"port", 9100}, {"connectionToken", "t0ken"}}}}},
      {"extensions",
       {{"versionId", 3},
        {"allExtensions", Json::array({described("esbenp.prettier-vscode", "/ext/prettier"),
                                       described("Astro-Build.astro-vscode", "/ext/astro/")})},
        {"activationEvents", {{"astro-build.astro-vscode", Json::array({"onLanguage:astro"})}}},
        {"myExtensions", Json::array({identifier("Astro-Build.astro-vscode")})}}},
      {"telemetryInfo",
       {{"sessionId", "5e55"},
        {"machineId", "3ac4"},
        {"sqmId", ""},
        {"devDeviceId", "de71"},
        {"firstSessionDate", "Fri, 20 Nov 2026 09:31:07 GMT"},
        {"msftInternal", false}}},
      {"logsLocation", uri("/data/logs/x/exthost2")},
      {"logFile", uri("/data/logs/x/e.log")}};
}

Result<InitialData> parse(const Json& json) {
  const std::string text = json.dump();
  return InitialData::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Json read_again(const InitialData& data) {
  const auto bytes = data.bytes();
  return Json::parse(bytes.begin(), bytes.end());
}

TEST(InitialData, SaysWhatTheHostIsFor) {
  const auto data = parse(real());
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_EQ(data->identity().extensions.size(), 1U);
  EXPECT_EQ(data->identity().extensions[0].id, "astro-build.astro-vscode");
  EXPECT_EQ(data->identity().extensions[0].name, "Astro-Build.astro-vscode");
  EXPECT_EQ(data->identity().extensions[0].folder, "/ext/astro");
  EXPECT_EQ(data->authority(), "127.0.0.1:9100");
  EXPECT_EQ(data->identity().logs, "/data/logs/x/exthost2");
  EXPECT_THAT(data->identity().storage_of(data->identity().extensions[0]),
              ElementsAre("/data/User/globalStorage/astro-build.astro-vscode",
                          "/data/User/workspaceStorage/-56d8a2f/Astro-Build.astro-vscode"));
}

// An emoji that is cut in two, in some package's description, is no reason that nobody starts.
TEST(InitialData, HalfOfASurrogatePairIsASign) {
  std::string text = real().dump();
  text.insert(1, R"("said":"\ud83d",)");
  const auto data =
      InitialData::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(read_again(*data)["said"], "\xEF\xBF\xBD");
}

TEST(InitialData, AnEmptyWindowHasNoWorkspaceStorage) {
  for (const Json& workspace : {Json(), Json::object(), Json{{"id", ""}}, Json{{"id", ".."}},
                                Json{{"id", "a/../../b"}}, Json{{"id", 7}}, Json{{"id", "."}}}) {
    Json json = real();
    json["workspace"] = workspace;
    const auto data = parse(json);
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(data->identity().storage_of(data->identity().extensions[0]).size(), 1U) << workspace;
  }
}

TEST(InitialData, WithholdsTheTokenAndTheParentAndChangesNothingElse) {
  auto data = parse(real());
  ASSERT_TRUE(data.ok());
  data->withhold();
  Json seen = read_again(*data);
  EXPECT_EQ(seen.dump().find("t0ken"), std::string::npos);
  EXPECT_EQ(seen["parentPid"], 0);
  Json expected = real();
  expected["parentPid"] = 0;
  expected["remote"]["connectionData"] = nullptr;
  EXPECT_EQ(seen, expected);
  // Nothing is made up where there was none.
  Json local = real();
  local.erase("remote");
  for (const char* each : {"logsLocation"})
    local[each]["scheme"] = "file", local[each]["authority"] = "";
  for (const char* each : {"globalStorageHome", "workspaceStorageHome"})
    local["environment"][each]["scheme"] = "file", local["environment"][each]["authority"] = "";
  local["extensions"]["myExtensions"] = Json::array();
  auto plain = parse(local);
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  plain->withhold();
  EXPECT_FALSE(read_again(*plain).contains("remote"));
}

TEST(InitialData, EachCompartmentIsToldIdsOfItsOwn) {
  const auto told = [](const char* subject) {
    auto data = parse(real());
    data->replace_ids(subject);
    return read_again(*data)["telemetryInfo"];
  };
  const Json one = told("acme.one"), two = told("acme.two");
  ASSERT_EQ(one.size(), 3U)
      << one;  // what is empty stays untold, and so does the first session's date
  for (const char* name : {"machineId", "sessionId", "devDeviceId"}) {
    EXPECT_EQ(one[name].get<std::string>().size(), 64U) << name;
    EXPECT_NE(one[name], two[name]) << name;
    EXPECT_NE(one[name], real()["telemetryInfo"][name]) << name;
  }
  EXPECT_NE(one["machineId"], one["sessionId"]);
  EXPECT_EQ(one, told("acme.one"));
  // Where nothing is told, nothing is made up.
  Json without = real();
  without.erase("telemetryInfo");
  auto data = parse(without);
  data->replace_ids("acme.one");
  EXPECT_EQ(read_again(*data)["telemetryInfo"], Json::object());
}

TEST(InitialData, BeforeTheReviewThereAreNoExtensions) {
  auto data = parse(real());
  ASSERT_TRUE(data.ok());
  data->remove_extensions();
  const Json seen = read_again(*data);
  EXPECT_THAT(seen["extensions"]["myExtensions"], IsEmpty());
  EXPECT_THAT(seen["extensions"]["activationEvents"], IsEmpty());
  EXPECT_EQ(seen["extensions"]["allExtensions"], real()["extensions"]["allExtensions"]);
}

TEST(InitialData, WhatIsMissingIsNamed) {
  const std::pair<std::function<void(Json&)>, const char*> cases[] = {
      {[](Json& j) { j = Json::array(); }, "initialisation data"},
      {[](Json& j) { j.erase("logsLocation"); }, "log folder"},
      {[](Json& j) { j["logsLocation"]["authority"] = "elsewhere:1"; }, "log folder"},
      {[](Json& j) { j["environment"] = 7; }, "storage folder"},
      {[](Json& j) { j["environment"].erase("globalStorageHome"); }, "storage folder"},
      {[](Json& j) { j["extensions"] = Json(); }, "list of extensions"},
      {[](Json& j) { j["extensions"]["myExtensions"] = "all"; }, "list of extensions"},
      {[](Json& j) {
         j["extensions"]["allExtensions"] = Json::array({1, Json()});
       },
       "no folder"},
      {[](Json& j) { j["extensions"]["myExtensions"][0] = 7; }, "no folder"},
      {[](Json& j) { j["extensions"]["myExtensions"].push_back("not.known"); }, "not.known"},
      {[](Json& j) { j["extensions"]["allExtensions"][1].erase("extensionLocation"); },
       "no folder"},
      {[](Json& j) { j["extensions"]["allExtensions"][1]["extensionLocation"]["scheme"] = "http"; },
       "no folder"},
  };
  for (const auto& [change, named] : cases) {
    Json json = real();
    change(json);
    const auto data = parse(json);
    ASSERT_FALSE(data.ok()) << named;
    EXPECT_THAT(data.error().message, HasSubstr(named));
  }
  const std::string broken = "{\"logsLocation\":";
  EXPECT_FALSE(
      InitialData::parse({reinterpret_cast<const uint8_t*>(broken.data()), broken.size()}).ok());
}

TEST(InitialData, AnIdThatIsNoIdNamesNoFolder) {
  for (const std::string id : {"", "x", "a.", ".b", "a/../b.c", "..", "a..b", "a.b/c", "a.b\nc"}) {
    Json json = real();
    json["extensions"]["allExtensions"][0]["identifier"] = identifier(id);
    json["extensions"]["myExtensions"][0] = identifier(id);
    EXPECT_FALSE(parse(json).ok()) << id;
  }
}

TEST(InitialData, APackageThatNestsWithoutEndIsAnError) {
  std::string deep(100000, '[');
  deep += std::string(100000, ']');
  const std::string text = "{\"extensions\":" + deep + "}";
  const auto data =
      InitialData::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  ASSERT_FALSE(data.ok());
  EXPECT_THAT(data.error().message, HasSubstr("nested"));
}

}  // namespace
}  // namespace bulkhead
