#include "policy/config.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

// A folder for one test, and the environment put back afterwards.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    std::string name = fs::temp_directory_path() / "bulkhead-config-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ConfigTest() override {
    for (const auto& [name, value] : saved_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
    fs::remove_all(folder_);
  }
  void set(const std::string& name, const std::string& value) {
    save(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void unset(const std::string& name) {
    save(name);
    ::unsetenv(name.c_str());
  }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  Places places() {
    Places result = find_places().value();
    result.config = folder_ + "/config";
    result.organisation = folder_ + "/organisation/policy.json";
    return result;
  }

  std::string folder_;

 private:
  void save(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    saved_.try_emplace(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  std::map<std::string, std::optional<std::string>> saved_;
};

Extra answer(Verdict verdict, Kind kind, std::string what) {
  Extra extra;
  extra.source = Rule::Source::kRemembered;
  extra.verdict = verdict;
  extra.kind = kind;
  extra.entry.text = std::move(what);
  return extra;
}

std::vector<std::string> texts(const Result<std::vector<Extra>>& extras) {
  std::vector<std::string> result;
  for (const Extra& extra : extras.value())
    result.push_back(std::string(label(extra.verdict)) + " " + std::string(label(extra.kind)) +
                     " " + extra.entry.text);
  return result;
}

constexpr const char* kPolicy = R"({"blocklist":1,"groups":[{"name":"mine","block":["/secret"]}]})";

TEST_F(ConfigTest, PlacesFollowTheXdgVariables) {
  set("HOME", "/home/somebody/");
  set("XDG_CONFIG_HOME", "/cfg");
  set("XDG_STATE_HOME", "/st");
  set("XDG_RUNTIME_DIR", "/rt");
  const Places found = find_places().value();
  EXPECT_EQ(found.home, "/home/somebody");
  EXPECT_EQ(found.config, "/cfg/bulkhead");
  EXPECT_EQ(found.state, "/st/bulkhead");
  EXPECT_EQ(found.runtime, "/rt");
  EXPECT_EQ(found.organisation, "/etc/bulkhead/policy.json");
}

TEST_F(ConfigTest, OwnFilesAreTheDataAndTheProgram) {
  Places places = find_places().value();
  EXPECT_EQ(places.program, std::filesystem::read_symlink("/proc/self/exe"));
  places.data = "/no-such/share";
  places.state = "/no/state";
  places.program = "/no-such/bin/bulkhead";
  EXPECT_THAT(own_files(places),
              ElementsAre(places.program, places.data, "/no-such/lib/bulkhead",
                          "/no-such/node_modules", "/node_modules", "/no/node_modules"));
  EXPECT_THAT(own_files(places, "/at/code/server"),
              AllOf(Contains("/at/code/server"), Contains("/at/code/node_modules"),
                    Contains("/at/node_modules")))
      << "where Node looks for packages";
}

TEST_F(ConfigTest, RelativeXdgVariablesAreIgnored) {
  set("HOME", "/home/somebody");
  set("XDG_CONFIG_HOME", "cfg");
  set("XDG_STATE_HOME", "");
  const Places found = find_places().value();
  EXPECT_EQ(found.config, "/home/somebody/.config/bulkhead");
  EXPECT_EQ(found.state, "/home/somebody/.local/state/bulkhead");
}

TEST_F(ConfigTest, HomeComesFromThePasswordDatabaseWhereHomeIsUnset) {
  unset("HOME");
  const auto found = find_places();
  ASSERT_TRUE(found.ok()) << to_string(found.error());
  EXPECT_EQ(found->home[0], '/');
}

TEST_F(ConfigTest, DataBehindALinkAreRefused) {
  const char* data = std::getenv("BULKHEAD_DATA");
  ASSERT_NE(data, nullptr);
  const std::string real = std::filesystem::canonical(data), link = folder_ + "/link";
  std::filesystem::create_symlink(real, link);
  set("BULKHEAD_DATA", link);
  const auto found = find_places();
  ASSERT_FALSE(found.ok()) << "whoever may write there could exchange it";
  EXPECT_THAT(to_string(found.error()), HasSubstr("give the folder itself, " + real));
  set("BULKHEAD_DATA", real);
  EXPECT_TRUE(find_places().ok());
}

TEST_F(ConfigTest, DataWithoutABaselineIsAnErrorThatNamesIt) {
  set("BULKHEAD_DATA", folder_);
  const auto found = find_places();
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr(folder_));
  set("BULKHEAD_DATA", "relative");
  EXPECT_THAT(find_places().error().message, HasSubstr("absolute"));
}

TEST_F(ConfigTest, LoadsWhatIsShipped) {
  const auto shipped = load_shipped(places());
  ASSERT_TRUE(shipped.ok()) << to_string(shipped.error());
  EXPECT_TRUE(shipped->sets.contains("system"));
  EXPECT_TRUE(shipped->sets.contains("node"));
  ASSERT_THAT(shipped->blocklists, SizeIs(2));
  EXPECT_EQ(shipped->blocklists[0].source, Blocklist::Source::kBuiltin);
  EXPECT_EQ(shipped->blocklists[1].source, Blocklist::Source::kTelemetry);
  EXPECT_FALSE(shipped->baseline.files.read.empty());
  EXPECT_FALSE(shipped->essentials.files.write.empty());
}

TEST_F(ConfigTest, UserAndOrganisationPoliciesAreAdded) {
  const Places at = places();
  write("config/policy.json", kPolicy);
  auto shipped = load_shipped(at);
  ASSERT_TRUE(shipped.ok()) << to_string(shipped.error());
  ASSERT_THAT(shipped->blocklists, SizeIs(3));
  EXPECT_EQ(shipped->blocklists[1].source, Blocklist::Source::kUser);
  if (::geteuid() != 0) return;  // only root can make the organisation's file valid
  write("organisation/policy.json", kPolicy, 0644);
  shipped = load_shipped(at);
  ASSERT_TRUE(shipped.ok()) << to_string(shipped.error());
  ASSERT_THAT(shipped->blocklists, SizeIs(4));
  EXPECT_EQ(shipped->blocklists[1].source, Blocklist::Source::kOrganisation);
}

TEST_F(ConfigTest, ABrokenPolicyFileIsAnErrorAndNotSkipped) {
  const Places at = places();
  const std::string file = write("config/policy.json", "{\"blocklist\":1,\"groups\":[}");
  const auto shipped = load_shipped(at);
  ASSERT_FALSE(shipped.ok());
  EXPECT_THAT(to_string(shipped.error()), HasSubstr(file + ":1:"));
}

TEST_F(ConfigTest, AUserFileThatOthersCanWriteIsRefused) {
  const Places at = places();
  for (const mode_t mode : {0620, 0602, 0666}) {
    write("config/policy.json", kPolicy, mode);
    const auto shipped = load_shipped(at);
    ASSERT_FALSE(shipped.ok()) << mode;
    EXPECT_THAT(shipped.error().message, HasSubstr("chmod go-w"));
  }
  const std::string file = write("config/policy.json", kPolicy, 0644);
  EXPECT_TRUE(load_shipped(at).ok());
  ASSERT_EQ(::chmod((folder_ + "/config").c_str(), 0777), 0);
  EXPECT_FALSE(load_shipped(at).ok()) << "its folder can be written by others";
}

TEST_F(ConfigTest, AForeignersUserFileIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const Places at = places();
  const std::string file = write("config/policy.json", kPolicy);
  ASSERT_EQ(::chown(file.c_str(), 1000, 1000), 0);
  const auto shipped = load_shipped(at);
  ASSERT_FALSE(shipped.ok());
  EXPECT_THAT(shipped.error().message, HasSubstr("belongs to user 1000"));
}

TEST_F(ConfigTest, AnOrganisationFileNotOwnedByRootIsRefused) {
  const Places at = places();
  const std::string file = write("organisation/policy.json", kPolicy, 0644);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(file.c_str(), 1000, 1000), 0);
  }
  const auto shipped = load_shipped(at);
  ASSERT_FALSE(shipped.ok());
  EXPECT_THAT(shipped.error().message, HasSubstr("must belong to root"));
}

TEST_F(ConfigTest, AFolderInPlaceOfAPolicyFileIsAnError) {
  const Places at = places();
  fs::create_directories(at.config + "/policy.json");
  EXPECT_FALSE(load_shipped(at).ok());
}

TEST_F(ConfigTest, NothingIsRememberedAtFirst) {
  const GrantStore store(folder_ + "/new/grants.json");
  EXPECT_THAT(store.load("a.b", "").value(), IsEmpty());
}

TEST_F(ConfigTest, RemembersBySubjectAndManifest) {
  GrantStore store(folder_ + "/new/grants.json");
  ASSERT_TRUE(store.remember("a.b", "d1", answer(Verdict::kAllow, Kind::kRead, "/x")).ok());
  ASSERT_TRUE(store.remember("a.b", "d1", answer(Verdict::kDeny, Kind::kConnect, "h:1")).ok());
  ASSERT_TRUE(store.remember("c.d", "d1", answer(Verdict::kAllow, Kind::kRun, "git")).ok());
  EXPECT_THAT(texts(store.load("a.b", "d1")), ElementsAre("allow read /x", "deny connect h:1"));
  EXPECT_THAT(texts(store.load("a.b", "d2")), ElementsAre("deny connect h:1"))
      << "another manifest: only \"never\" counts";
  EXPECT_THAT(texts(store.load("c.d", "d1")), ElementsAre("allow run git"));
  EXPECT_EQ(store.load("a.b", "d1")->front().source, Rule::Source::kRemembered);
  EXPECT_GT(store.load("a.b", "d1")->front().entry.where.line, 0);
}

TEST_F(ConfigTest, ALaterAnswerTakesTheEarlierOnesPlace) {
  GrantStore store(folder_ + "/grants.json");
  ASSERT_TRUE(store.remember("a.b", "d1", answer(Verdict::kAllow, Kind::kRead, "/x")).ok());
  ASSERT_TRUE(store.remember("a.b", "d2", answer(Verdict::kDeny, Kind::kRead, "/x")).ok());
  EXPECT_THAT(texts(store.load("a.b", "d1")), ElementsAre("deny read /x"));
  ASSERT_TRUE(store.remember("a.b", "d2", answer(Verdict::kAllow, Kind::kRead, "/x")).ok());
  EXPECT_THAT(texts(store.load("a.b", "d2")), ElementsAre("allow read /x"));
  EXPECT_THAT(texts(store.load("a.b", "d1")), IsEmpty());
}

TEST_F(ConfigTest, TheFileIsPrivate) {
  const std::string file = folder_ + "/private/grants.json";
  GrantStore store(file);
  ASSERT_TRUE(store.remember("a.b", "", answer(Verdict::kAllow, Kind::kRead, "/x")).ok());
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  ASSERT_EQ(::stat((folder_ + "/private").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077U, 0U);
}

TEST_F(ConfigTest, BrokenOrForeignGrantsAreErrors) {
  const std::string file = write("grants.json", "{");
  GrantStore store(file);
  EXPECT_FALSE(store.load("a.b", "").ok());
  EXPECT_FALSE(store.remember("a.b", "", answer(Verdict::kAllow, Kind::kRead, "/x")).ok());
  for (
      const char* text :
      {R"({"grants":2,"answers":[]})", R"({"grants":1})", R"([])", R"({"grants":1,"answers":[1]})",
       R"({"grants":1,"answers":[{"subject":"a.b","manifest":"","kind":"read","answer":"yes","what":"/x"}]})",
       R"({"grants":1,"answers":[{"subject":"a.b","manifest":"","kind":"system","answer":"always","what":"x"}]})"}) {
    write("grants.json", text);
    const auto loaded = store.load("a.b", "");
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_THAT(testing::told(loaded.error()), HasSubstr(file)) << text;
  }
  write("grants.json", R"({"grants":1,"answers":[]})", 0666);
  EXPECT_FALSE(store.load("a.b", "").ok()) << "others can write it";
}

TEST_F(ConfigTest, WhatCannotBeWrittenIsNotRemembered) {
  GrantStore store(folder_ + "/grants.json");
  EXPECT_FALSE(store.remember("a.b", "", answer(Verdict::kAllow, Kind::kRead, "/\xff")).ok());
  EXPECT_FALSE(store.remember("a.b", "", answer(Verdict::kAllow, Kind::kRead, "")).ok());
  EXPECT_FALSE(store.remember("", "", answer(Verdict::kAllow, Kind::kRead, "/x")).ok());
  EXPECT_FALSE(store.remember("a.b", "", answer(Verdict::kAllow, Kind::kSystem, "ptrace")).ok());
  EXPECT_THAT(store.load("a.b", "").value(), IsEmpty());
}

TEST_F(ConfigTest, ParallelAnswersAreAllKept) {
  const std::string file = folder_ + "/grants.json";
  constexpr int kThreads = 8, kEach = 10;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&file, t] {
      GrantStore store(file);
      for (int i = 0; i < kEach; ++i)
        EXPECT_TRUE(store
                        .remember("a.b", "",
                                  answer(Verdict::kAllow, Kind::kRead,
                                         "/" + std::to_string(t) + "/" + std::to_string(i)))
                        .ok());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(GrantStore(file).load("a.b", "").value(), SizeIs(kThreads * kEach));
}

}  // namespace
}  // namespace bulkhead
