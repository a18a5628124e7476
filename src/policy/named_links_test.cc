// Blocks by a name anywhere, where a link has that name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/policy.h"
#include "policy/rule_match.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using testing::blocklist;
using testing::compiled;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;
using ::testing::SizeIs;

constexpr auto kAllow = Verdict::kAllow, kDeny = Verdict::kDeny;

class NamedLinks : public ::testing::Test {
 protected:
  NamedLinks() {
    std::string text = (fs::temp_directory_path() / "bulkhead-XXXXXX").string();
    if (mkdtemp(text.data()) != nullptr) root_ = fs::canonical(text).string();
  }
  ~NamedLinks() override { fs::remove_all(root_); }
  void SetUp() override {
    ASSERT_FALSE(root_.empty());
    in_ = inputs();
    in_.variables.workspace = {root_};
    in_.manifest.files.read = in_.manifest.files.write = entries({"${workspace}"});
  }
  void file(const std::string& name) {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << "content";
  }
  void link(const std::string& name, const std::string& target) {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    fs::create_symlink(target, root_ + "/" + name);
  }
  void block_write(std::initializer_list<const char*> texts) {
    BlockGroup group;
    group.name = "names";
    group.reason = "Why.";
    group.block_write = entries(texts);
    in_.blocklists = {blocklist(Blocklist::Source::kBuiltin, std::move(group))};
  }
  Verdict verdict(Kind kind, const std::string& name) {
    return compiled(in_)->decide_path(kind, root_ + "/" + name).verdict;
  }

  std::string root_;
  PolicyInputs in_;
};

TEST_F(NamedLinks, WhatAHookLeadsToIsNotWritten) {
  file("scripts/pre-commit");
  file("scripts/other");
  link(".git/hooks/pre-commit", "../../scripts/pre-commit");
  link(".git/hooks/post-commit", "../../scripts/yet-to-be-made");
  block_write({"**/*.git/hooks"});
  EXPECT_EQ(verdict(Kind::kWrite, "scripts/pre-commit"), kDeny);
  EXPECT_EQ(verdict(Kind::kWriteStatus, "scripts/pre-commit"), kDeny);
  EXPECT_EQ(verdict(Kind::kWrite, "scripts/yet-to-be-made"), kDeny);
  EXPECT_EQ(verdict(Kind::kRead, "scripts/pre-commit"), kAllow);
  EXPECT_EQ(verdict(Kind::kWrite, "scripts/other"), kAllow);
  const auto policy = compiled(in_);
  EXPECT_TRUE(policy->above_block(root_ + "/scripts")) << "nor moved away with its folder";
  const Rule& rule =
      policy->rule(policy->decide_path(Kind::kWrite, root_ + "/scripts/pre-commit").rule);
  EXPECT_EQ(rule.text, "**/*.git/hooks");
  EXPECT_THAT(rule.reason, HasSubstr(root_ + "/.git/hooks/pre-commit leads there"));
}

TEST_F(NamedLinks, AFileAFolderAndTheWholeWay) {
  file("dot/tasks.json");
  file("real/agent/settings");
  link(".vscode", "dot");
  link(".claude", "way/agent");
  link("way", "real");
  block_write({"**/.vscode/tasks.json", "**/.claude"});
  EXPECT_EQ(verdict(Kind::kWrite, "dot/tasks.json"), kDeny);
  EXPECT_EQ(verdict(Kind::kWrite, "dot/other.json"), kAllow);
  EXPECT_EQ(verdict(Kind::kWrite, "real/agent/settings"), kDeny);
  EXPECT_EQ(verdict(Kind::kWrite, "way"), kDeny) << "another link could take its place";
  EXPECT_EQ(verdict(Kind::kRead, "way"), kAllow);
  EXPECT_EQ(verdict(Kind::kWrite, "way/other"), kAllow) << "what it leads to has its own rules";
  const auto policy = compiled(in_);
  EXPECT_TRUE(policy->above_block(root_ + "/way"));
  EXPECT_FALSE(policy->above_block(root_ + "/way/other"));
  EXPECT_THAT(matching_rules(*policy, Kind::kWrite, root_ + "/way/other"), SizeIs(1));
  EXPECT_THAT(matching_rules(*policy, Kind::kWrite, root_ + "/way"), SizeIs(2));
}

TEST_F(NamedLinks, ABlockOfReadingHoldsForWhatTheNameLeadsTo) {
  file("conf/env.local");
  file("keys/own");
  file("elsewhere/key");
  link(".env", "conf/env.local");
  link("keys/linked", "../elsewhere/key");
  in_.manifest.files.block = entries({"**/.env", "**/keys"});
  EXPECT_EQ(verdict(Kind::kRead, "conf/env.local"), kDeny);
  EXPECT_EQ(verdict(Kind::kRun, "conf/env.local"), kDeny);
  EXPECT_EQ(verdict(Kind::kWrite, "conf/env.local"), kDeny);
  EXPECT_EQ(verdict(Kind::kWrite, "elsewhere/key"), kDeny);
  EXPECT_EQ(verdict(Kind::kRead, "elsewhere/key"), kAllow) << "by its own name";
}

TEST_F(NamedLinks, NothingElse) {
  file(".env");
  file("a/b");
  link("a/.env", "b");  // not at the top
  link("loop", "loop");
  in_.manifest.files.block = entries({"**/.env", "**/loop", "**/missing"});
  EXPECT_EQ(verdict(Kind::kRead, "a/b"), kAllow);
  EXPECT_EQ(verdict(Kind::kRead, "a/.env"), kDeny);
  size_t blocks = 0;
  const auto policy = compiled(in_);
  for (const Rule& rule : policy->rules())
    if (rule.verdict == kDeny && !rule.text.empty() && rule.text.starts_with("**/")) ++blocks;
  EXPECT_EQ(blocks, 3U);
}

// A folder of settings is a project like any other, and ~/.ssh/config a link to there.
TEST_F(NamedLinks, WhatStandsInABlockedFolderOfAHomeIsNotWrittenWhereItLies) {
  const std::string home = root_ + "-home";
  fs::create_directories(home + "/.ssh");
  fs::create_directories(home + "/.config/bulkhead");
  file("dot/ssh_config");
  file("dot/other");
  fs::create_symlink(root_ + "/dot/ssh_config", home + "/.ssh/config");
  fs::create_symlink(root_, home + "/.ssh/project");
  fs::create_symlink(home, home + "/.ssh/home");
  fs::create_symlink(root_ + "/dot/grants.json", home + "/.config/bulkhead/grants.json");
  file("real/bashrc");
  link("current", "real");
  fs::create_symlink(root_ + "/current/bashrc", home + "/.bashrc");
  in_.variables.workspace = {root_ + "/dot"};
  in_.manifest.files.read = entries({"${workspace}", "/"});
  in_.manifest.files.write = entries({"/"});
  BlockGroup group;
  group.name = "settings";
  group.reason = "Why.";
  group.block = entries({"${home}/.ssh", "${config}"});
  group.block_write = entries({"${home}/.bashrc"});
  in_.blocklists = {blocklist(Blocklist::Source::kBuiltin, std::move(group))};
  const auto check = [&] {
    EXPECT_EQ(verdict(Kind::kWrite, "dot/ssh_config"), kDeny);
    EXPECT_EQ(verdict(Kind::kRead, "dot/ssh_config"), kAllow);
    EXPECT_EQ(verdict(Kind::kWrite, "dot/grants.json"), kDeny);
    EXPECT_EQ(verdict(Kind::kWrite, "dot/other"), kDeny) << "by ~/.ssh/project";
    EXPECT_EQ(verdict(Kind::kWrite, "real/bashrc"), kDeny);
    EXPECT_EQ(compiled(in_)->decide_path(Kind::kWrite, home + "/notes").verdict, kAllow)
        << "a link to what holds it means nothing";
  };
  in_.variables.home = home;
  in_.variables.config = home + "/.config/bulkhead";
  check();
  EXPECT_EQ(verdict(Kind::kWrite, "current"), kDeny) << "another link could take its place";
  in_.variables.home = in_.variables.config = "/no-such/home";
  in_.variables.other_homes = {home};
  check();
  fs::remove_all(home);
}

}  // namespace
}  // namespace bulkhead
