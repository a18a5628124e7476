// What compiling reads from the file system: programs, interpreters, symbolic links.
#include "policy/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/links.h"
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
using ::testing::IsEmpty;

class Tree : public ::testing::Test {
 protected:
  Tree() {
    std::string name = ::testing::TempDir() + "/policy_test.XXXXXX";
    root_ = std::filesystem::canonical(::mkdtemp(name.data()));
  }
  ~Tree() override { std::filesystem::remove_all(root_); }

  std::string file(const std::string& name, const std::string& content, mode_t mode = 0755) {
    std::string path = root_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string link(const std::string& name, const std::string& target) {
    std::string path = root_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::create_symlink(target, path);
    return path;
  }

  std::string root_;
};

using Programs = Tree;
using Links = Tree;

TEST_F(Programs, TheFirstExecutableFileOfTheSearchPath) {
  file("one/tool", "", 0644);
  std::filesystem::create_directories(root_ + "/two/tool");
  const std::string found = file("three/tool", "");
  file("four/tool", "");
  const std::vector<std::string> path = {"relative", root_ + "/one", root_ + "/two",
                                         root_ + "/three", root_ + "/four"};
  EXPECT_EQ(find_program("tool", path), found);
  EXPECT_FALSE(find_program("other", path));
}

TEST_F(Programs, InterpretersOfScripts) {
  const std::string node = file("bin/node",
                                "\x7f"
                                "ELF");
  const std::string env = file("bin/env",
                               "\x7f"
                               "ELF");
  const std::vector<std::string> path = {root_ + "/bin"};
  EXPECT_THAT(interpreters_of(file("a", "#!" + node + " --flag\nx"), path), ElementsAre(node));
  EXPECT_THAT(interpreters_of(file("b", "#! " + env + " node\nx"), path), ElementsAre(env, node));
  EXPECT_THAT(interpreters_of(file("c", "#!" + env + " -S A=1 node --flag\n"), path),
              ElementsAre(env, node));
  EXPECT_THAT(interpreters_of(file("d", "#!" + root_ + "/a\n"), path),
              ElementsAre(root_ + "/a", node));
  EXPECT_THAT(interpreters_of(file("e", "plain"), path), IsEmpty());
  EXPECT_THAT(interpreters_of(file("f", "#!relative\n"), path), IsEmpty());
  EXPECT_THAT(interpreters_of(file("g", "#!" + root_ + "/none\n"), path), IsEmpty());
  EXPECT_THAT(interpreters_of(file("h", "#!"), path), IsEmpty());
  EXPECT_THAT(interpreters_of(root_ + "/none", path), IsEmpty());
  // A loop ends.
  EXPECT_THAT(interpreters_of(file("loop", "#!" + root_ + "/loop\n"), path),
              ElementsAre(root_ + "/loop"));
  const std::string fifo = root_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0700), 0);
  EXPECT_THAT(interpreters_of(fifo, path), IsEmpty());
}

TEST_F(Programs, RunGrantsTheProgramAndItsInterpreters) {
  const std::string node = file("bin/node",
                                "\x7f"
                                "ELF");
  const std::string script = file("lib/tool.js", "#!" + node + "\n");
  link("bin/tool", "../lib/tool.js");
  std::filesystem::create_directories(root_ + "/ext");
  PolicyInputs in = inputs();
  in.search_path = {root_ + "/bin"};
  in.variables.extension = root_ + "/ext";
  in.manifest.run = entries({"tool", "${extension}", "absent"});
  const auto policy = compiled(in);
  EXPECT_THAT(policy->runnable_files(), ElementsAre(node, script));
  EXPECT_THAT(policy->runnable_trees(), ElementsAre(root_ + "/ext"));
  const auto run = [&](const std::string& path) { return policy->decide_path(Kind::kRun, path); };
  EXPECT_EQ(run(script).verdict, Verdict::kAllow);
  EXPECT_EQ(run(node).verdict, Verdict::kAllow);
  EXPECT_EQ(policy->rule(run(node).rule).text, "tool");
  EXPECT_THAT(policy->rule(run(node).rule).reason, HasSubstr("runs the script " + script));
  EXPECT_EQ(run(root_ + "/ext/x/y").verdict, Verdict::kAllow);
  EXPECT_EQ(run("/usr/bin/true").verdict, Verdict::kDeny);
  EXPECT_EQ(policy->decide_path(Kind::kRead, script).verdict, Verdict::kDeny);
  ASSERT_EQ(policy->notes().size(), 1U);
  EXPECT_THAT(policy->notes()[0].message, HasSubstr("no such program"));
}

TEST_F(Programs, AnAbsolutePathThatIsALinkRunsWhatItLeadsTo) {
  const std::string real = file("real", "");
  const std::string alias = link("alias", "real");
  PolicyInputs in = inputs();
  in.manifest.run = {{alias, {}}, {real, {}}};
  const auto policy = compiled(in);
  EXPECT_THAT(policy->runnable_files(), ElementsAre(real));
  EXPECT_EQ(policy->decide_path(Kind::kRun, real).verdict, Verdict::kAllow);
}

TEST_F(Programs, ABlockedNameIsBlockedEverywhere) {
  const std::string tool = file("bin/tool", "");
  PolicyInputs in = inputs();
  in.search_path = {root_ + "/bin"};
  in.manifest.run = {{root_, {}}, {"tool", {}}};
  BlockGroup group;
  group.name = "tools";
  group.run = entries({"tool"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  EXPECT_EQ(policy->decide_path(Kind::kRun, tool).verdict, Verdict::kDeny);
  EXPECT_EQ(policy->decide_path(Kind::kRun, root_ + "/elsewhere/tool").verdict, Verdict::kDeny);
  EXPECT_EQ(policy->decide_path(Kind::kRun, root_ + "/other").verdict, Verdict::kAllow);
  EXPECT_THAT(policy->runnable_files(), IsEmpty());
}

TEST_F(Programs, RefusesWhatIsNoProgram) {
  PolicyInputs in = inputs();
  in.manifest.run = entries({"git status", "a/b", "./x", "..", "/usr/bin/*", "**/x", "~/x"});
  const auto result = Policy::compile(in);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().diagnostics.size(), 7U) << testing::told(result.error());
}

TEST_F(Links, AreFollowedLikeRealpathM) {
  file("real/f", "");
  link("to-real", "real");
  link("absolute", root_ + "/real");
  link("dangling", "gone/there");
  link("up", "../" + root_.substr(root_.rfind('/') + 1) + "/real");
  link("loop", "loop");
  link("real/back", "..");
  EXPECT_EQ(follow_links(root_ + "/real/f"), root_ + "/real/f");
  EXPECT_EQ(follow_links(root_ + "/to-real"), root_ + "/real");
  EXPECT_EQ(follow_links(root_ + "/to-real/f"), root_ + "/real/f");
  EXPECT_EQ(follow_links(root_ + "/to-real/none/x"), root_ + "/real/none/x");
  EXPECT_EQ(follow_links(root_ + "/absolute/f"), root_ + "/real/f");
  EXPECT_EQ(follow_links(root_ + "/dangling/x"), root_ + "/gone/there/x");
  EXPECT_EQ(follow_links(root_ + "/up/f"), root_ + "/real/f");
  EXPECT_EQ(follow_links(root_ + "/loop/x"), root_ + "/loop/x");
  EXPECT_EQ(follow_links(root_ + "/real/back/to-real/f"), root_ + "/real/f");
  EXPECT_EQ(follow_links(root_ + "/none"), root_ + "/none");
  EXPECT_EQ(follow_links("/"), "/");
  EXPECT_EQ(follow_links("/proc/self/exe"), "/proc/self/exe");
  // All of them again by one follower, twice: what it remembers changes no answer.
  LinkFollower links;
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"/real/f", "/to-real", "/to-real/f", "/to-real/none/x", "/absolute/f",
                             "/dangling/x", "/up/f", "/loop/x", "/real/back/to-real/f", "/none",
                             "/none/below/it", "/real/f/below-a-file"})
      EXPECT_EQ(links.follow(root_ + name), follow_links(root_ + name)) << name;
  }
}

TEST_F(Links, OneLookTellsThatThereAreNone) {
  const std::string real = file("real/f", "");
  const std::string folder = link("folder", "real");
  const std::string dangling = link("dangling", "gone");
  for (const std::string& path : {real, root_ + "/real", root_ + "/none", root_ + "/none/x",
                                  root_ + "/real/none", std::string("/")})
    EXPECT_TRUE(has_no_links(path)) << path;
  for (const std::string& path :
       {folder, folder + "/f", folder + "/none", dangling, dangling + "/x", real + "/x", real + "/",
        root_ + "//real", root_ + "/real/.", root_ + "/none/../folder", root_ + "/real/../real/f",
        std::string("/proc/self"), std::string("/proc/self/exe"), std::string("real/f"),
        std::string(), root_ + std::string("/real\0/../folder", 16)})
    EXPECT_FALSE(has_no_links(path)) << path;
}

TEST_F(Links, AFileIsFoundByTheNamesOnTheWay) {
  const std::string real = file("real/f", "");
  const std::string folder = link("folder", "real");
  const std::string up = link("real/up", "../folder");
  const std::string absolute = link("absolute", up + "/f");
  EXPECT_THAT(names_of(real), ElementsAre(real));
  EXPECT_THAT(names_of(root_ + "//real/../real/./f"), ElementsAre(real));
  EXPECT_THAT(names_of(root_ + "/folder/f"), ElementsAre(folder, real));
  EXPECT_THAT(names_of(root_ + "/folder/../real/f"), ElementsAre(folder, real));
  EXPECT_THAT(names_of(absolute), ElementsAre(absolute, up, folder, real));
  EXPECT_THAT(names_of("/proc/self/../../dev/null"), IsEmpty());
}

TEST_F(Links, BulkheadsOwnFilesAreNamesThatHoldForThemselves) {
  file("real/f", "");
  const std::string folder = link("folder", "real");
  for (const bool several : {false, true}) {
    PolicyInputs in = inputs();
    in.variables.bulkhead = {folder};
    if (several) in.variables.bulkhead.emplace_back("/opt/other");
    in.manifest.files.write = {{root_, {}}};
    BlockGroup group;
    group.name = "own";
    group.block_write = entries({"${bulkhead}"});
    in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
    const auto policy = compiled(in);
    EXPECT_EQ(policy->decide_path(Kind::kWrite, folder).verdict, Verdict::kDeny);
    EXPECT_EQ(policy->decide_path(Kind::kWrite, root_ + "/real/f").verdict, Verdict::kAllow);
  }
}

TEST_F(Links, ABlockHoldsForWhatItsLinkLeadsTo) {
  std::filesystem::create_directories(root_ + "/keys");
  link("home/.ssh", root_ + "/keys");
  link("home/.aws", root_ + "/not-yet");
  std::filesystem::create_directories(root_ + "/browser/p1");
  link("home/.mozilla", root_ + "/browser");
  PolicyInputs in = inputs();
  in.variables.home = root_ + "/home";
  in.manifest.files.read = {{root_, {}}};
  BlockGroup group;
  group.name = "keys";
  group.block = entries({"${home}/.ssh", "${home}/.aws", "${home}/.mozilla/*/key4.db"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kBuiltin, group));
  const auto policy = compiled(in);
  const auto read = [&](const std::string& path) {
    return policy->decide_path(Kind::kRead, root_ + path).verdict;
  };
  EXPECT_EQ(read("/home/.ssh/id_rsa"), Verdict::kDeny);
  EXPECT_EQ(read("/keys/id_rsa"), Verdict::kDeny);
  EXPECT_EQ(read("/not-yet/credentials"), Verdict::kDeny);
  EXPECT_EQ(read("/browser/p1/key4.db"), Verdict::kDeny);
  EXPECT_EQ(read("/browser/p1/other"), Verdict::kAllow);
  EXPECT_TRUE(policy->above_block(root_ + "/keys"));
  EXPECT_THAT(policy->whole_trees(), IsEmpty());
}

TEST_F(Links, AManifestsGrantMeansThePathThatItNames) {
  // Whoever wrote the workspace chose where its links lead.
  std::filesystem::create_directories(root_ + "/private");
  link("ws/data", root_ + "/private");
  PolicyInputs in = inputs();
  in.variables.workspace = {root_ + "/ws"};
  in.manifest.files.read = entries({"${workspace}/data"});
  EXPECT_EQ(compiled(in)->decide_path(Kind::kRead, root_ + "/private/x").verdict, Verdict::kDeny);
  // The sets come with bulkhead and mean what is there.
  in.sets["s"].read = {{root_ + "/ws/data", {}}};
  in.manifest.files.read = entries({"@s"});
  EXPECT_EQ(compiled(in)->decide_path(Kind::kRead, root_ + "/private/x").verdict, Verdict::kAllow);
}

}  // namespace
}  // namespace bulkhead
