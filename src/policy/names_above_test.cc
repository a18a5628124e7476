#include "policy/names_above.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "policy/explain.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using testing::blocklist;
using testing::compiled;
using ::testing::ElementsAre;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;
using ::testing::IsEmpty;
using testing::refused;

constexpr auto kAllow = Verdict::kAllow, kDeny = Verdict::kDeny, kAsk = Verdict::kAsk;

Variables of(std::vector<std::string> workspaces, std::string home) {
  Variables variables;
  variables.workspace = std::move(workspaces);
  variables.home = std::move(home);
  return variables;
}

TEST(FoldersAbove, UpToTheHomeFolder) {
  EXPECT_THAT(folders_above(of({"/h/me/a/b/c"}, "/h/me")),
              ElementsAre("/h/me", "/h/me/a", "/h/me/a/b"));
  EXPECT_THAT(folders_above(of({"/h/me/a/x", "/h/me/a/y"}, "/h/me")),
              ElementsAre("/h/me", "/h/me/a"));
  EXPECT_THAT(folders_above(of({"/h/me"}, "/h/me")), IsEmpty());
  EXPECT_THAT(folders_above(of({}, "/h/me")), IsEmpty());
  EXPECT_THAT(folders_above(of({"/no-such/ws/a", "", "x"}, "/h/me")), IsEmpty());
  EXPECT_THAT(folders_above(of({"/h/mean/ws"}, "/h/me")), IsEmpty());
  EXPECT_THAT(folders_above(of({"/no-such/a/b"}, "/")), IsEmpty());
}

TEST(FoldersAbove, ElsewhereAsLongAsTheyAreTheUsersAlone) {
  char name[] = "/tmp/bulkhead-above-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string top = name;
  std::filesystem::create_directories(top + "/a/b/ws");
  EXPECT_THAT(folders_above(of({top + "/a/b/ws"}, "/h/me")),
              ElementsAre(top, top + "/a", top + "/a/b"))
      << "/tmp is everybody's";
  ASSERT_EQ(::chmod((top + "/a").c_str(), 0777), 0);
  EXPECT_THAT(folders_above(of({top + "/a/b/ws"}, "/h/me")), ElementsAre(top + "/a/b"));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((top + "/a/b").c_str(), 12345, 12345), 0);
    EXPECT_THAT(folders_above(of({top + "/a/b/ws"}, "/h/me")), IsEmpty());
  }
  std::filesystem::remove_all(top);
}

class Settings : public ::testing::Test {
 protected:
  void SetUp() override {
    in_.variables.home = "/no-such";
    in_.variables.workspace = {"/no-such/code/ws"};
    in_.sets["tool-settings"].names = entries({".editorconfig", "prettier.config.*", ".secret"});
    in_.manifest.files.read = entries({"${workspace}", "@tool-settings"});
    in_.manifest.otherwise = Otherwise::kAsk;
  }
  Verdict read(const std::string& path) {
    return compiled(in_)->decide_path(Kind::kRead, path).verdict;
  }
  PolicyInputs in_ = inputs();
};

TEST_F(Settings, AreReadByTheirNamesInTheFoldersAbove) {
  for (const char* path : {"/no-such/.editorconfig", "/no-such/code/.editorconfig",
                           "/no-such/code/prettier.config.mjs", "/no-such/code/ws/any"})
    EXPECT_EQ(read(path), kAllow) << path;
  for (const char* path :
       {"/.editorconfig", "/no-such/code/other/.editorconfig", "/no-such/code/.editorconfig/x",
        "/no-such/code/x.editorconfig", "/no-such/code/prettier.config", "/no-such/code/notes",
        "/no-such/.editorconfig~", "/no-such2/.editorconfig"})
    EXPECT_EQ(read(path), kAsk) << path;
  // Their other names are nobody's business, and nobody is asked.
  for (const char* path : {"/no-such", "/no-such/code", "/"}) EXPECT_EQ(read(path), kDeny) << path;
  EXPECT_EQ(read("/etc"), kAsk);
}

TEST_F(Settings, GrantTheNamesInTheRootWhereThatIsWritten) {
  in_.manifest.files.read = entries({"${workspace}", "@tool-settings", "/."});
  EXPECT_EQ(read("/"), kAllow);
}

TEST(Ancestors, ReachToTheRoot) {
  EXPECT_THAT(ancestors(of({"/h/me/a", "/h/b"}, "/h/me")), ElementsAre("/", "/h", "/h/me"));
  EXPECT_THAT(ancestors(of({"/", "", "x"}, "/h/me")), IsEmpty());
}

TEST_F(Settings, GrantReadingAlone) {
  const auto policy = compiled(in_);
  for (const Kind kind : {Kind::kWrite, Kind::kWriteStatus, Kind::kRun})
    EXPECT_EQ(policy->decide_path(kind, "/no-such/code/.editorconfig").verdict, kAsk);
  EXPECT_EQ(policy->decide_path(Kind::kReadStatus, "/no-such/code").verdict, kAllow);
  EXPECT_FALSE(policy->above_block("/no-such/code"));
  EXPECT_TRUE(policy->above_read_grant("/no-such/code")) << "another folder of that name";
  for (const WholeTree& tree : policy->whole_trees()) EXPECT_EQ(tree.path, "/no-such/code/ws");
  const Rule& rule = policy->rule(policy->decide_path(Kind::kRead, "/no-such/.editorconfig").rule);
  EXPECT_EQ(rule.text, "@tool-settings");
  EXPECT_TRUE(rule.own_file);
}

TEST_F(Settings, YieldToBlocksAndToGrants) {
  BlockGroup group;
  group.name = "keys";
  group.block = entries({"${home}/.secret"});
  in_.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  EXPECT_EQ(read("/no-such/.secret"), kDeny);
  EXPECT_EQ(read("/no-such/code/.secret"), kAllow);
  in_.manifest.files.read = entries({"@tool-settings", "/no-such/code"});
  EXPECT_EQ(read("/no-such/code"), kAllow);
  const auto policy = compiled(in_);
  const Decision decision = policy->decide_path(Kind::kRead, "/no-such/code/.editorconfig");
  EXPECT_FALSE(policy->rule(decision.rule).own_file) << "granted with all that is there";
}

TEST_F(Settings, AreExplained) {
  const auto policy = compiled(in_);
  EXPECT_THAT(explain(*policy, Kind::kRead, "/no-such/.editorconfig", true).because,
              HasSubstr("\"@tool-settings\""));
  const Explanation listing = explain(*policy, Kind::kRead, "/no-such/code", true);
  EXPECT_THAT(listing.because, HasSubstr("show only the files that tools read by name"));
  EXPECT_THAT(listing.change, HasSubstr("--read /no-such/code"));
}

TEST_F(Settings, NamesAreSingleComponents) {
  for (const char* name :
       {"a/b", "*", "..", "${home}", "**", "/", "*/", "a*/", "a/b/", "../", "a//"}) {
    in_.sets["tool-settings"].names = entries({name});
    EXPECT_THAT(refused(in_), HasSubstr("is no name of a file")) << name;
  }
}

TEST_F(Settings, FoldersAreReadWholeBelowTheHomeFolder) {
  in_.sets["tool-settings"].names = entries({".editorconfig", "node_modules/"});
  BlockGroup group;
  group.name = "keys";
  group.block = entries({"**/.npmrc"});
  in_.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  in_.manifest.run = entries({"@programs"});
  const auto policy = compiled(in_);
  for (const char* path : {"/no-such/code/node_modules", "/no-such/code/node_modules/eslint/x.js"})
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, kAllow) << path;
  EXPECT_EQ(policy->decide_path(Kind::kRun, "/no-such/code/node_modules/.bin/x").verdict, kAllow);
  for (const char* path : {"/no-such/node_modules/x", "/no-such/code/node_modules2/x",
                           "/no-such/code/other/node_modules/x", "/node_modules/x"})
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, kAsk) << path;
  for (const Kind kind : {Kind::kWrite, Kind::kWriteStatus})
    EXPECT_EQ(policy->decide_path(kind, "/no-such/code/node_modules/x").verdict, kAsk);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/no-such/code/node_modules/.npmrc").verdict, kDeny);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/no-such/code").verdict, kDeny) << "its list";
}

TEST(FoldersOfPackages, AreNoWayToWhatALinkLeadsTo) {
  char name[] = "/tmp/bulkhead-above-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string top = name;
  std::filesystem::create_directories(top + "/h/code/ws");
  std::filesystem::create_directories(top + "/h/letters");
  std::filesystem::create_symlink(top + "/h/letters", top + "/h/code/node_modules");
  PolicyInputs in = inputs();
  in.variables.home = top + "/h";
  in.variables.workspace = {top + "/h/code/ws"};
  in.sets["tool-settings"].names = entries({"node_modules/"});
  in.manifest.files.read = entries({"${workspace}", "@tool-settings"});
  EXPECT_EQ(compiled(in)->decide_path(Kind::kRead, top + "/h/letters/one").verdict, kDeny);
  std::filesystem::remove_all(top);
}

}  // namespace
}  // namespace bulkhead
