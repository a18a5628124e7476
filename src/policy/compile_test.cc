#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/policy.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using testing::blocklist;
using testing::compiled;
using ::testing::ElementsAre;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;
using testing::refused;
using namespace std::chrono_literals;

Verdict verdict(const Policy& policy, Kind kind, std::string_view path) {
  return policy.decide_path(kind, path).verdict;
}

constexpr auto kAllow = Verdict::kAllow, kDeny = Verdict::kDeny, kAsk = Verdict::kAsk;

TEST(Policy, GrantsWhatIsNamedAndNothingElse) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"${workspace}", "**/.editorconfig", "/opt/*/lib"});
  in.manifest.files.write = entries({"${storage}"});
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/ws/a/b"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/ws"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/ws2"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/anywhere/.editorconfig"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/anywhere/x.editorconfig"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/opt/x/lib/y"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/opt/x/y/lib"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/ws/a"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/storage/a"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWriteStatus, "/no-such/storage/a"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/storage/a"), kDeny);  // writing is not reading
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/ws/a"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/NO-SUCH/ws"), kDeny);
}

TEST(Policy, DecisionsNameTheRule) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a", "${workspace}"});
  const auto policy = compiled(in);
  const Rule& rule = policy->rule(policy->decide_path(Kind::kRead, "/no-such/ws/x").rule);
  EXPECT_EQ(rule.source, Rule::Source::kManifest);
  EXPECT_EQ(rule.verdict, kAllow);
  EXPECT_EQ(rule.text, "${workspace}");
  EXPECT_EQ(rule.resolved, "/no-such/ws");
  EXPECT_EQ(rule.where.line, 2);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/b").rule, kOtherwiseRule);
  EXPECT_EQ(policy->rule(kOtherwiseRule).source, Rule::Source::kOtherwise);
  EXPECT_EQ(policy->decide_path(Kind::kReadStatus, "/b").rule, kFreeStatusRule);
  EXPECT_EQ(policy->rule(kFreeStatusRule).verdict, kAllow);
}

TEST(Policy, PathsThatAreNotCanonicalAreDenied) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/"});
  in.manifest.otherwise = Otherwise::kAsk;
  const auto policy = compiled(in);
  for (const char* path : {"", "a", "/a/", "/a/../b", "//a"}) {
    for (const Kind kind : {Kind::kRead, Kind::kReadStatus}) {
      const Decision decision = policy->decide_path(kind, path);
      EXPECT_EQ(decision.verdict, kDeny) << path;
      EXPECT_EQ(decision.rule, kOtherwiseRule) << path;
    }
  }
  EXPECT_EQ(verdict(*policy, Kind::kConnect, "/a"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kSystem, "/a"), kDeny);
}

TEST(Policy, ABlockAlwaysWins) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"${home}/.ssh/known_hosts"});
  in.manifest.files.write = in.manifest.files.read;
  in.extras.push_back(
      {Rule::Source::kCommandLine, kAllow, Kind::kRead, {"/no-such/home/.ssh/id_rsa", {}}});
  BlockGroup group;
  group.name = "ssh-keys";
  group.reason = "private keys";
  group.block = entries({"${home}/.ssh"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  for (const char* path : {"/no-such/home/.ssh/known_hosts", "/no-such/home/.ssh/id_rsa"})
    for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kWriteStatus, Kind::kRun}) {
      const Decision decision = policy->decide_path(kind, path);
      EXPECT_EQ(decision.verdict, kDeny);
      EXPECT_EQ(policy->rule(decision.rule).group, "ssh-keys");
      EXPECT_EQ(policy->rule(decision.rule).reason, "private keys");
      EXPECT_EQ(policy->rule(decision.rule).source, Rule::Source::kBuiltin);
    }
  EXPECT_EQ(verdict(*policy, Kind::kReadStatus, "/no-such/home/.ssh/id_rsa"), kAllow);
}

TEST(Policy, BlockWriteLeavesReading) {
  PolicyInputs in = inputs();
  in.manifest.files.read = in.manifest.files.write = entries({"${workspace}"});
  BlockGroup group;
  group.name = "git-hooks";
  group.block_write = entries({"**/.git/hooks"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/ws/.git/hooks/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/ws/.git/hooks/x"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWriteStatus, "/no-such/ws/sub/.git/hooks"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/ws/.git/index"), kAllow);
  EXPECT_TRUE(policy->above_block("/no-such/ws/.git"));
  EXPECT_FALSE(policy->above_block("/no-such/ws/sub"));
}

TEST(Policy, HidingCoversStatusAndListsThePlaces) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/"});
  in.manifest.files.hide = entries({"${home}/b", "${home}/a"});
  const auto policy = compiled(in);
  for (const Kind kind :
       {Kind::kRead, Kind::kWrite, Kind::kReadStatus, Kind::kWriteStatus, Kind::kRun})
    EXPECT_EQ(verdict(*policy, kind, "/no-such/home/a/x"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kReadStatus, "/no-such/home/c"), kAllow);
  EXPECT_THAT(policy->hidden(), ElementsAre("/no-such/home/a", "/no-such/home/b"));
  EXPECT_TRUE(policy->above_block("/no-such/home"));
  in.manifest.files.hide = entries({"/a/*"});
  EXPECT_THAT(refused(in), HasSubstr("a wildcard cannot be hidden"));
  in.manifest.files.hide = entries({"/"});
  EXPECT_THAT(refused(in), HasSubstr("hiding everything"));
}

TEST(Policy, ReadBlocksBelowAFolderAreThoseByPlace) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/"});
  in.manifest.files.block = entries({"/a/b/key", "/c/*/key", "/d/*.pem", "**/.env/key"});
  BlockGroup group;
  group.name = "hooks";
  group.block_write = entries({"/e/hooks"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  for (const char* path : {"/", "/a", "/a/b", "/a/b/key", "/c", "/c/x", "/d"})
    EXPECT_TRUE(policy->above_read_block(path)) << path;
  for (const char* path : {"/a/bc", "/a/x", "/d/x", "/e", "/f/.env"})
    EXPECT_FALSE(policy->above_read_block(path)) << path;
  EXPECT_TRUE(policy->above_read_block("not/canonical"));
}

TEST(Policy, WhatLiesAboveAReadGrantIsKnown) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a/b", "/c/*/x", "**/src/*.c", "/d/."});
  in.manifest.files.write = entries({"/e"});
  const auto policy = compiled(in);
  for (const char* path : {"/", "/a", "/a/b", "/c", "/c/x", "/x/src", "/d"})
    EXPECT_TRUE(policy->above_read_grant(path)) << path;
  for (const char* path : {"/a/bc", "/e", "/e/x", "/d/x"})
    EXPECT_FALSE(policy->above_read_grant(path)) << path;
}

TEST(Policy, EverythingIsAllowedWhereNothingIsBlocked) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/"});
  EXPECT_TRUE(compiled(in)->allows_everything(Kind::kRead));
  EXPECT_FALSE(compiled(in)->allows_everything(Kind::kWrite));
  in.manifest.files.write = entries({"/"});
  EXPECT_TRUE(compiled(in)->allows_everything(Kind::kWrite));
  EXPECT_FALSE(compiled(in)->allows_everything(Kind::kRun)) << "nobody asks that";
  BlockGroup group;
  group.name = "hooks";
  group.block_write = entries({"**/.git/hooks"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  EXPECT_TRUE(compiled(in)->allows_everything(Kind::kRead));
  EXPECT_FALSE(compiled(in)->allows_everything(Kind::kWrite));
  in.manifest.files.block = entries({"**/.env"});
  EXPECT_FALSE(compiled(in)->allows_everything(Kind::kRead));
  in = inputs();
  in.manifest.files.read = entries({"/."});
  EXPECT_FALSE(compiled(in)->allows_everything(Kind::kRead)) << "the names in / and no more";
}

TEST(Policy, OtherwiseAsksUnlessForbidden) {
  PolicyInputs in = inputs();
  in.manifest.otherwise = Otherwise::kAsk;
  auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/a"), kAsk);
  EXPECT_EQ(policy->rule(kOtherwiseRule).verdict, kAsk);
  EXPECT_EQ(policy->decide_lookup("a.b").verdict, kAsk);
  EXPECT_EQ(policy->decide_vscode("terminal").verdict, kAsk);
  EXPECT_EQ(policy->decide_environment("X").verdict, kDeny);
  Blocklist organisation;
  organisation.source = Blocklist::Source::kOrganisation;
  organisation.otherwise = Otherwise::kDeny;
  in.blocklists.push_back(organisation);
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/a"), kDeny);
}

TEST(Policy, TheBaselineAddsAndIsOverruled) {
  PolicyInputs in = inputs();
  in.baseline.emplace();
  in.baseline->files.read = entries({"${workspace}"});
  in.baseline->otherwise = Otherwise::kAsk;
  in.baseline->limits.processes = 7;
  in.baseline->limits.files = 9;
  in.manifest.limits.files = 100;
  in.manifest.files.block = entries({"${workspace}/.env"});
  auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/ws/a"), kAllow);
  EXPECT_EQ(policy->rule(policy->decide_path(Kind::kRead, "/no-such/ws/a").rule).source,
            Rule::Source::kBaseline);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/ws/.env"), kDeny);
  EXPECT_EQ(policy->otherwise(), Otherwise::kAsk);
  EXPECT_EQ(policy->limits().processes, 7U);
  EXPECT_EQ(policy->limits().files, 100U);
  in.manifest.otherwise = Otherwise::kDeny;
  EXPECT_EQ(compiled(in)->otherwise(), Otherwise::kDeny);
}

TEST(Policy, LimitsOfABlocklistAreUpperBounds) {
  PolicyInputs in = inputs();
  in.manifest.limits.memory = 100;
  in.manifest.limits.wall_time = 5s;
  Blocklist bound;
  bound.limits.emplace();
  bound.limits->memory = 50;
  bound.limits->wall_time = 10s;
  bound.limits->cpu = 0.5;
  in.blocklists.push_back(bound);
  const auto policy = compiled(in);
  EXPECT_EQ(policy->limits().memory, 50U);
  EXPECT_EQ(policy->limits().wall_time, 5000ms);
  EXPECT_EQ(policy->limits().cpu, 0.5);
  EXPECT_FALSE(policy->limits().processes);
  in.manifest.limits.processes = 0;
  EXPECT_THAT(refused(in), HasSubstr("a limit of zero"));
}

TEST(Policy, LiftingIsForBuiltInGroupsOnly) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a", "/b"});
  BlockGroup a, b;
  a.name = "group-a";
  a.block = entries({"/a"});
  b.name = "group-b";
  b.block = entries({"/b"});
  in.blocklists = {blocklist(Blocklist::Source::kBuiltin, a),
                   blocklist(Blocklist::Source::kOrganisation, b)};
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/a"), kDeny);
  in.lifted = {"group-a"};
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/a"), kAllow);
  in.lifted = {"all"};
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/a"), kAllow);
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/b"), kDeny);
  in.lifted = {"group-b"};
  EXPECT_THAT(refused(in), HasSubstr("which no run lifts"));
  in.lifted = {"nonsense"};
  EXPECT_THAT(refused(in), HasSubstr("no built-in block group is called \"nonsense\""));
  // An organisation's group of the same name stays.
  b.name = "group-a";
  b.block = entries({"/a"});
  in.blocklists[1] = blocklist(Blocklist::Source::kOrganisation, b);
  in.lifted = {"group-a"};
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/a"), kDeny);
}

TEST(Policy, SeveralWorkspaceFolders) {
  PolicyInputs in = inputs();
  in.variables.workspace = {"/no-such/one", "/no-such/two"};
  in.manifest.files.read = entries({"${workspace}/src"});
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/one/src"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/two/src/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/two"), kDeny);
}

TEST(Policy, AWindowWithoutAFolderLeavesOutWhatIsOfTheWorkspace) {
  PolicyInputs in = inputs();
  in.variables.workspace.clear();
  in.manifest.files.read = entries({"${workspace}", "/opt/a"});
  in.manifest.files.block = entries({"${workspace}/.env"});
  in.manifest.run = entries({"${workspace}/tool"});
  EXPECT_THAT(refused(in), HasSubstr("${workspace} stands for nothing"));
  in.variables.may_lack_workspace = true;
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/opt/a"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/x"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/"), kDeny);
  EXPECT_EQ(policy->notes().size(), 3U);
  // Of other variables it says nothing.
  in.variables.storage.clear();
  in.manifest.files.write = entries({"${storage}"});
  EXPECT_THAT(refused(in), HasSubstr("${storage} stands for nothing"));
}

TEST(Policy, AnEmptyVariableIsAnErrorInAManifestAndANoteElsewhere) {
  PolicyInputs in = inputs();
  in.variables.runtime.clear();
  in.manifest.files.read = entries({"${runtime}/x"});
  EXPECT_THAT(
      refused(in),
      HasSubstr("m.json:1:1: error: list: \"${runtime}/x\": ${runtime} stands for nothing"));
  in.manifest.files.read.clear();
  BlockGroup group;
  group.name = "sockets";
  group.block = entries({"${runtime}/bus"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  ASSERT_EQ(policy->notes().size(), 1U);
  EXPECT_EQ(policy->notes()[0].severity, Diagnostic::Severity::kNote);
  EXPECT_THAT(policy->notes()[0].message, HasSubstr("${runtime}"));
}

TEST(Policy, VariablesMustBeCanonical) {
  PolicyInputs in = inputs();
  in.variables.home = "/no-such/home/";
  EXPECT_THAT(refused(in), HasSubstr("no canonical path"));
  in = inputs();
  in.scratch = {"tmp"};
  EXPECT_THAT(refused(in), HasSubstr("scratch"));
}

TEST(Policy, Sets) {
  PolicyInputs in = inputs();
  in.sets["system"].read = entries({"/usr", "${runtime}/x", "/lib*"});
  in.sets["node"].run = entries({"/no-such/node"});
  in.manifest.files.read = entries({"/a", "@system"});
  in.manifest.run = entries({"@node"});
  const auto policy = compiled(in);
  const Decision decision = policy->decide_path(Kind::kRead, "/usr/lib/x");
  EXPECT_EQ(decision.verdict, kAllow);
  EXPECT_EQ(policy->rule(decision.rule).group, "@system");
  EXPECT_EQ(policy->rule(decision.rule).text, "@system");
  EXPECT_EQ(policy->rule(decision.rule).resolved, "/usr");
  EXPECT_EQ(policy->rule(decision.rule).where.line, 2);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/lib64/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/node"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/usr/lib/x"), kDeny);

  PolicyInputs bad = inputs();
  bad.sets = in.sets;
  bad.sets["loop"].read = entries({"@system"});
  bad.manifest.files.read = entries({"@nonsense", "@nod", "@loop"});
  bad.manifest.files.write = entries({"@system"});
  bad.manifest.files.block = entries({"@system"});
  bad.manifest.run = entries({"@system"});
  const std::string text = refused(bad);
  EXPECT_THAT(
      text, HasSubstr("\"@nonsense\": unknown set (known are \"@loop\", \"@node\", \"@system\")"));
  EXPECT_THAT(text, HasSubstr("\"@nod\": unknown set (did you mean \"@node\"?)"));
  EXPECT_THAT(text, HasSubstr("must not name another set"));
  EXPECT_THAT(text, HasSubstr("no set grants writing"));
  EXPECT_THAT(text, HasSubstr("this set names no programs"));
}

TEST(Policy, ExtrasGrantAndBlock) {
  PolicyInputs in = inputs();
  const auto extra = [&](Rule::Source source, Verdict verdict, Kind kind, const char* text) {
    in.extras.push_back({source, verdict, kind, {text, {}}});
  };
  extra(Rule::Source::kCommandLine, kAllow, Kind::kRead, "/r");
  extra(Rule::Source::kCommandLine, kAllow, Kind::kWrite, "/w");
  extra(Rule::Source::kRemembered, kDeny, Kind::kRead, "/r/never");
  extra(Rule::Source::kRemembered, kDeny, Kind::kWrite, "/w/never");
  extra(Rule::Source::kCommandLine, kAllow, Kind::kConnect, "a.b:1");
  extra(Rule::Source::kRemembered, kDeny, Kind::kLookup, "c.d:*");
  extra(Rule::Source::kCommandLine, kAllow, Kind::kEnvironment, "NODE_*");
  extra(Rule::Source::kRemembered, kAllow, Kind::kVscode, "terminal");
  extra(Rule::Source::kRemembered, kAllow, Kind::kRun, R"(/no-such/we\*ird)");
  extra(Rule::Source::kRemembered, kDeny, Kind::kReadStatus, "/hid");
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/r/x"), kAllow);
  EXPECT_EQ(policy->rule(policy->decide_path(Kind::kRead, "/r/x").rule).source,
            Rule::Source::kCommandLine);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/r/never/x"), kDeny);
  EXPECT_EQ(policy->rule(policy->decide_path(Kind::kRead, "/r/never").rule).source,
            Rule::Source::kRemembered);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/w/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/w/never"), kDeny);
  EXPECT_EQ(policy->decide_lookup("a.b").verdict, kAllow);
  EXPECT_EQ(policy->decide_lookup("c.d").verdict, kDeny);
  EXPECT_EQ(policy->decide_environment("NODE_ENV").verdict, kAllow);
  EXPECT_EQ(policy->decide_vscode("terminal").verdict, kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/we*ird"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/weXird"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kReadStatus, "/hid/x"), kDeny);
  extra(Rule::Source::kCommandLine, kAllow, Kind::kSystem, "ptrace");
  EXPECT_THAT(refused(in), HasSubstr("no rule grants or blocks this kernel interface"));
}

TEST(Policy, Environment) {
  PolicyInputs in = inputs();
  in.manifest.environment = entries({"PATH", "NODE_*", "LC_*"});
  BlockGroup group;
  group.name = "loader";
  group.environment = entries({"NODE_OPTIONS", "LD_*"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  EXPECT_EQ(policy->decide_environment("PATH").verdict, kAllow);
  EXPECT_EQ(policy->decide_environment("path").verdict, kDeny);
  EXPECT_EQ(policy->decide_environment("PATHS").verdict, kDeny);
  EXPECT_EQ(policy->decide_environment("NODE_").verdict, kAllow);
  EXPECT_EQ(policy->decide_environment("NODE_OPTIONS").verdict, kDeny);
  EXPECT_EQ(policy->decide_environment("LD_PRELOAD").verdict, kDeny);
  for (const char* bad : {"*", "A B", "1A", "A=B", "*_X", "A**", "A*B"}) {
    in.manifest.environment = entries({bad});
    EXPECT_THAT(refused(in), HasSubstr("no name of an environment variable")) << bad;
  }
}

TEST(Policy, Vscode) {
  PolicyInputs in = inputs();
  in.manifest.vscode = entries({"@editor", "terminal"});
  BlockGroup group;
  group.name = "x";
  group.vscode = entries({"settings-write"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kUser, group));
  const auto policy = compiled(in);
  EXPECT_EQ(policy->decide_vscode("documents").verdict, kAllow);
  EXPECT_EQ(policy->rule(policy->decide_vscode("documents").rule).text, "@editor");
  EXPECT_EQ(policy->decide_vscode("terminal").verdict, kAllow);
  EXPECT_EQ(policy->decide_vscode("tasks").verdict, kDeny);
  EXPECT_EQ(policy->decide_vscode("settings-write").verdict, kDeny);
  EXPECT_EQ(policy->decide_vscode("@editor").verdict, kDeny);
  in.manifest.vscode = entries({"terminals", "@everything"});
  EXPECT_THAT(refused(in), HasSubstr("\"terminals\": unknown vscode permission"));
}

TEST(Policy, AllFindingsAtOnce) {
  PolicyInputs in = inputs();
  in.manifest.extension = "pub.ext";
  in.manifest.files.read = entries({"~/x", "src"});
  in.manifest.network = entries({"example.com"});
  in.manifest.run = entries({"git status"});
  const auto result = Policy::compile(in);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().diagnostics.size(), 4U);
  EXPECT_EQ(result.error().message, "the policy of pub.ext cannot be compiled");
  in.manifest.files.read.clear();
  in.manifest.network.clear();
  in.manifest.run.clear();
  EXPECT_EQ(compiled(in)->subject(), "pub.ext");
  in.manifest.version = 2;
  EXPECT_THAT(refused(in), HasSubstr("version 2"));
}

// --- whole trees

std::string trees(const PolicyInputs& in) {
  std::string result;
  const auto policy = compiled(in);
  for (const WholeTree& tree : policy->whole_trees())
    result += tree.path + (tree.read ? " r" : "") + (tree.write ? " w" : "") + "; ";
  return result;
}

TEST(WholeTrees, WithoutBlocksEveryConcreteGrantIsWhole) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/b", "/a", "/c/*", "**/x", "/a/inner"});
  in.manifest.files.write = entries({"/a", "/b/deep/er"});
  EXPECT_EQ(trees(in), "/a r w; /b r; /b/deep/er r w; ");
}

TEST(WholeTrees, NamesThatSortBetweenATreeAndItsChildren) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a", "/a-b", "/a/b", "/a/b/c"});
  EXPECT_EQ(trees(in), "/a r; /a-b r; ");
}

TEST(WholeTrees, BlocksInsideOrAround) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a", "/b", "/c/d"});
  in.manifest.files.block = entries({"/a/x/y", "/c", "/bb"});
  EXPECT_EQ(trees(in), "/b r; ");
  in.manifest.files.read = entries({"/a", "/a/z"});
  EXPECT_EQ(trees(in), "/a/z r; ");
}

TEST(WholeTrees, WildcardBlocks) {
  PolicyInputs in = inputs();
  in.manifest.files.read = in.manifest.files.write = entries({"/a/b", "/z"});
  in.manifest.files.block = entries({"/a/*/secret"});
  EXPECT_EQ(trees(in), "/z r w; ");
  in.manifest.files.block = entries({"/*/c"});
  EXPECT_EQ(trees(in), "/a/b r w; ");
  in.manifest.files.block = entries({"**/.env"});
  EXPECT_EQ(trees(in), "");
  in.manifest.files.block.clear();
  BlockGroup group;
  group.name = "g";
  group.block_write = entries({"**/.git/hooks"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  EXPECT_EQ(trees(in), "/a/b r; /z r; ");
}

TEST(WholeTrees, ABlockOfReadingAloneAlsoStopsWholeWriting) {
  // Landlock would let the program rename the file out of the block and read it then.
  PolicyInputs in = inputs();
  in.manifest.files.read = in.manifest.files.write = entries({"/a"});
  in.extras.push_back({Rule::Source::kRemembered, kDeny, Kind::kRead, {"/a/secret", {}}});
  EXPECT_EQ(trees(in), "");
}

TEST(WholeTrees, HiddenTreesAreBlocks) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a"});
  in.manifest.files.hide = entries({"/a/b"});
  EXPECT_EQ(trees(in), "");
}

// --- folders without what is in them

TEST(FolderItself, IsReadAndNothingBelowIt) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a/.", "/*/star/.", "**/any/."});
  const auto policy = compiled(in);
  for (const char* path : {"/a", "/x/star", "/any", "/x/y/any"})
    EXPECT_EQ(verdict(*policy, Kind::kRead, path), kAllow) << path;
  for (const char* path : {"/", "/a/b", "/a/b/any/c", "/x/star/b", "/x/y/star", "/any/x", "/ab"})
    EXPECT_EQ(verdict(*policy, Kind::kRead, path), kDeny) << path;
  for (const Kind kind : {Kind::kWrite, Kind::kWriteStatus, Kind::kRun})
    EXPECT_EQ(verdict(*policy, kind, "/a"), kDeny);
  EXPECT_TRUE(policy->whole_trees().empty()) << "a kernel rule would grant what is below";
}

TEST(FolderItself, OfTheRootAndOfVariables) {
  PolicyInputs in = inputs();
  in.variables.workspace = {"/w1", "/w2"};
  in.manifest.files.read = entries({"/.", "${workspace}/."});
  const auto policy = compiled(in);
  for (const char* path : {"/", "/w1", "/w2"})
    EXPECT_EQ(verdict(*policy, Kind::kRead, path), kAllow) << path;
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/w1/x"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/x"), kDeny);
}

TEST(FolderItself, ABlockWins) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"/a/."});
  in.manifest.files.block = entries({"/a"});
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/a"), kDeny);
}

TEST(FolderItself, BelowScratchIsNoBind) {
  PolicyInputs in = inputs();
  in.scratch = {"/tmp"};
  in.manifest.files.read = entries({"/tmp/a/."});
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/a/x"), kAllow) << "it is scratch as before";
  EXPECT_FALSE(policy->above_block("/tmp/a"));
}

TEST(FolderItself, StandsOnlyWhereReadingIsGranted) {
  for (auto list : {&Files::write, &Files::block, &Files::hide}) {
    PolicyInputs in = inputs();
    in.manifest.files.*list = entries({"/a/."});
    EXPECT_THAT(refused(in), HasSubstr("stands only in files.read"));
  }
  PolicyInputs in = inputs();
  in.manifest.run = entries({"/a/."});
  EXPECT_THAT(refused(in), HasSubstr("stands only in files.read"));
  in = inputs();
  in.manifest.files.read = entries({"/a/./."});
  EXPECT_THAT(refused(in), HasSubstr("must not hold \".\""));
}

// --- scratch

TEST(Scratch, YieldsToAGrantOfTheTree) {
  for (const char* grant : {"/tmp", "/", "/t*"}) {
    PolicyInputs in = inputs();
    in.scratch = {"/tmp", "/dev/shm"};
    in.scratch_yields_to_grants = true;
    in.manifest.files.read = entries({grant});
    const auto policy = compiled(in);
    EXPECT_EQ(verdict(*policy, Kind::kRead, "/tmp/x"), kAllow) << grant;
    EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/x"), kDeny) << grant;
    EXPECT_EQ(verdict(*policy, Kind::kWrite, "/dev/shm/x"),
              std::string_view(grant) == "/" ? kDeny : kAllow);
  }
  PolicyInputs in = inputs();
  in.scratch = {"/tmp"};
  in.scratch_yields_to_grants = true;
  in.manifest.files.read = entries({"/tmp/below"});
  EXPECT_EQ(verdict(*compiled(in), Kind::kWrite, "/tmp/x"), kAllow);
}

TEST(Scratch, IsFreeAndExemptFromWildcardBlocks) {
  PolicyInputs in = inputs();
  in.scratch = {"/tmp", "/dev/shm"};
  in.manifest.files.block = entries({"**/.env", "/tmp/secret", "/*/star"});
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/tmp/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/.env"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/dev/shm/y"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/star"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/secret"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/tmp/x"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmpx"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/var/.env"), kDeny);
  EXPECT_FALSE(policy->above_block("/tmp/.env"));
  EXPECT_TRUE(policy->above_block("/x/.env"));
}

TEST(Scratch, DoesNotCoverWhatIsBoundBelowIt) {
  PolicyInputs in = inputs();
  in.variables.workspace = {"/tmp/a/ws"};
  in.scratch = {"/tmp"};
  in.manifest.files.read = entries({"${workspace}"});
  in.manifest.files.block = entries({"**/.env"});
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/tmp/a/ws/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/a/ws/x"), kDeny);  // the user's own folder
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/tmp/a/ws/.env"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/a/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/tmp/a/.env"), kAllow);
  // Renaming /tmp/a would carry the bound tree to where it passes for scratch.
  EXPECT_TRUE(policy->above_block("/tmp/a"));
  EXPECT_TRUE(policy->above_block("/tmp/a/ws"));
  EXPECT_FALSE(policy->above_block("/tmp/b"));
}

TEST(Scratch, AGrantOfTheTreeItselfOrAboveChangesNothing) {
  PolicyInputs in = inputs();
  in.scratch = {"/tmp"};
  in.manifest.files.read = entries({"/", "${tmp}"});
  const auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/tmp/x"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/x"), kDeny);
}

TEST(ReadablePrograms, MayRun) {
  PolicyInputs in = inputs();
  in.manifest.files.read = entries({"${workspace}", "**/.editorconfig", "/opt/names/."});
  in.manifest.files.write = entries({"${storage}"});
  in.manifest.files.block = entries({"${workspace}/blocked"});
  in.manifest.run = entries({"@programs"});
  in.manifest.otherwise = Otherwise::kAsk;
  in.scratch = {"/tmp"};
  BlockGroup group;
  group.name = "keys";
  group.block = entries({"${workspace}/key"});
  group.run = entries({"rm"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  ASSERT_TRUE(policy);
  EXPECT_TRUE(policy->runs_what_it_reads());
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/ws/node_modules/.bin/tool"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/tmp/made"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/storage/server"), kAsk) << "not read";
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/home/bin/tool"), kAsk);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/opt/names/tool"), kAsk);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/ws/blocked/tool"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/ws/key"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRun, "/no-such/ws/rm"), kDeny);
  const Decision decision = policy->decide_path(Kind::kRun, "/no-such/ws/a");
  EXPECT_EQ(policy->rule(decision.rule).text, "@programs");
  EXPECT_TRUE(policy->runnable_files().empty());
  EXPECT_TRUE(policy->runnable_trees().empty());

  in.manifest.run.clear();
  EXPECT_FALSE(compiled(in)->runs_what_it_reads());
  EXPECT_EQ(verdict(*compiled(in), Kind::kRun, "/no-such/ws/a"), kAsk);

  PolicyInputs bad = inputs();
  bad.sets["system"].read = entries({"/usr"});
  bad.manifest.files.read = entries({"@programs"});
  bad.manifest.run = entries({"@system"});
  const std::string text = refused(bad);
  EXPECT_THAT(text, HasSubstr("\"@programs\": this set stands only in run"));
  EXPECT_THAT(text, HasSubstr("or write \"@programs\" for whatever may be read"));
}

}  // namespace
}  // namespace bulkhead
