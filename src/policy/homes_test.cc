#include "policy/homes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HomesTest : public ::testing::Test {
 protected:
  HomesTest() {
    std::string text = (fs::temp_directory_path() / "bulkhead-XXXXXX").string();
    if (mkdtemp(text.data()) != nullptr) root_ = fs::canonical(text).string();
  }
  ~HomesTest() override { fs::remove_all(root_); }
  void SetUp() override { ASSERT_FALSE(root_.empty()); }

  std::string folder(const std::string& name) {
    fs::create_directories(root_ + "/" + name);
    return root_ + "/" + name;
  }
  std::vector<std::string> find(const std::string& passwd) {
    std::ofstream(root_ + "/passwd") << passwd;
    return find_homes({root_ + "/passwd", root_ + "/home", ""});
  }

  std::string root_;
};

TEST_F(HomesTest, OfRootOfPeopleAndOfWhoseTheyAre) {
  const std::string own = std::to_string(getuid());
  const std::string root = folder("root"), me = folder("me"), base = folder("base");
  const std::string programs = folder("programs");
  const std::string stranger = getuid() == 12 ? "13" : "12";
  EXPECT_THAT(find("root:x:0:0:root:" + root + ":/bin/sh\n" +                 //
                   "me:x:1000:1000:Me,,,:" + root_ + "//me/:/bin/sh\n" +      //
                   "base:x:" + own + ":12::" + base + ":/bin/sh\n" +          //
                   "bin:x:" + stranger + ":12::" + programs + ":/bin/sh\n" +  //
                   "gone:x:1001:1001::" + root_ + "/none:/bin/sh\n" +         //
                   "none:x:1002:1002::/:/bin/sh\n" + "odd:x:1003:1003::rel:/bin/sh\nbroken\n"),
              ElementsAre(base, me, root));
}

TEST_F(HomesTest, EachFolderOfHome) {
  const std::string me = folder("home/me"), away = folder("away/you");
  fs::create_symlink(away, root_ + "/home/you");
  std::ofstream(folder("home") + "/file") << "no folder";
  EXPECT_THAT(find("me:x:1000:1000::" + me + ":/bin/sh\n"), ElementsAre(away, me));
}

TEST_F(HomesTest, NothingThere) {
  EXPECT_THAT(find_homes({root_ + "/none", root_ + "/none", "no such user"}), ElementsAre());
}

TEST(NoProject, HomesWhatHoldsThemAndWhatAllShare) {
  const std::vector<std::string> homes = {"/data/home/me", "/root"};
  EXPECT_EQ(why_no_project("/data/home/me", homes), "is a home folder");
  EXPECT_THAT(why_no_project("/data/home", homes), HasSubstr("/data/home/me"));
  EXPECT_THAT(why_no_project("/data", homes), HasSubstr("/data/home/me"));
  EXPECT_EQ(why_no_project("/data/home/me/project", homes), "");
  EXPECT_EQ(why_no_project("/data/home/me2", homes), "");
  for (const char* shared : {"/", "/tmp", "/var/tmp", "/etc", "/usr", "/var", "/home"})
    EXPECT_THAT(why_no_project(shared, homes), HasSubstr("shared")) << shared;
  EXPECT_EQ(why_no_project("/tmp/project", homes), "");
  EXPECT_EQ(why_no_project("/srv", homes), "");
}

using testing::blocklist;
using testing::compiled;
using testing::entries;
using testing::inputs;
using testing::refused;

Verdict verdict(const Policy& policy, Kind kind, std::string_view path) {
  return policy.decide_path(kind, path).verdict;
}
Blocklist keys(std::initializer_list<const char*> block,
               std::initializer_list<const char*> block_write) {
  BlockGroup group;
  group.name = "keys";
  group.block = entries(block);
  group.block_write = entries(block_write);
  return blocklist(Blocklist::Source::kBuiltin, std::move(group));
}
constexpr auto kAllow = Verdict::kAllow, kDeny = Verdict::kDeny;

// Root works in somebody else's home, and so do programs in containers.
TEST(HomesInAPolicy, TheBlocklistsHoldInEveryHomeThatAGrantMeets) {
  PolicyInputs in = inputs();
  in.blocklists.push_back(
      keys({"${home}/.ssh", "${config}", "${state}/journal*"}, {"${home}/.bashrc"}));
  in.variables.home = "/no-such/root";
  in.variables.other_homes = {"/no-such/home/me", "/no-such/home/you", "/no-such/root"};
  in.variables.workspace = {"/no-such/home/me"};
  in.manifest.files.read = in.manifest.files.write = entries({"${workspace}", "/no-such/srv"});
  auto policy = compiled(in);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/home/me/.ssh/id_rsa"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/home/me/.bashrc"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/home/me/.bashrc"), kAllow);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/home/me/.config/bulkhead/policy.json"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/home/me/.local/state/bulkhead/journal.db"),
            kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kWrite, "/no-such/home/me/project/a"), kAllow);
  const Decision found = policy->decide_path(Kind::kRead, "/no-such/home/me/.ssh");
  EXPECT_EQ(policy->rule(found.rule).group, "keys");
  EXPECT_EQ(policy->rule(found.rule).resolved, "/no-such/home/me/.ssh");
  const auto rules_of = [&](std::string_view home) {
    return std::count_if(policy->rules().begin(), policy->rules().end(), [&](const Rule& rule) {
      return rule.resolved.starts_with(std::string(home) + "/.");
    });
  };
  EXPECT_EQ(rules_of("/no-such/home/you"), 0) << "what no grant meets costs nothing";
  EXPECT_EQ(rules_of("/no-such/root"), 2) << "once";

  // A grant inside of a home, one above, and one with wildcards.
  for (const char* grant :
       {"/no-such/home/you/.ssh", "/no-such/home", "/", "/no-such/*/y*/.ssh", "**/.ssh"}) {
    in.manifest.files.read = entries({grant});
    in.manifest.files.write.clear();
    policy = compiled(in);
    EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/home/you/.ssh/id_rsa"), kDeny) << grant;
  }
  in.manifest.files.read = entries({"/no-such/*/z*/.ssh", "/no-such/srv"});
  policy = compiled(in);
  EXPECT_EQ(rules_of("/no-such/home/you"), 0);
  in.lifted = {"keys"};
  in.manifest.files.read = entries({"/no-such/home"});
  EXPECT_EQ(verdict(*compiled(in), Kind::kRead, "/no-such/home/you/.ssh/id_rsa"), kAllow);
}

TEST(HomesInAPolicy, ManyHomesAreBlockedByTheFolderThatHoldsThem) {
  PolicyInputs in = inputs();
  in.blocklists.push_back(keys({"${home}/.ssh"}, {}));
  for (int i = 0; i < 1000; ++i)
    in.variables.other_homes.push_back("/no-such/homes/" + std::to_string(i));
  in.manifest.files.read = entries({"/no-such/homes"});
  const auto policy = compiled(in);
  EXPECT_LT(policy->rules().size(), 10U);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/homes/7/.ssh/id_rsa"), kDeny);
  EXPECT_EQ(verdict(*policy, Kind::kRead, "/no-such/homes/7/a"), kAllow);
  for (int i = 0; i < 100; ++i)
    in.variables.other_homes.push_back("/no-such/homes/at/" + std::to_string(i) + "/home");
  EXPECT_THAT(refused(in), HasSubstr("home folders"));
}

}  // namespace
}  // namespace bulkhead
