#include "sandbox/limits/cgroup.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHybrid =
    "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/memory rw,relatime shared:5 - cgroup cgroup rw,memory\n"
    "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:6 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 30 0:29 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw,nsdelegate\n"
    "nonsense\n"
    "34 30 0:30 / /mnt rw - ext4 /dev/sda rw\n";

TEST(CgroupParsers, Mounts) {
  const auto mounts = parse_cgroup_mounts(kHybrid);
  ASSERT_EQ(mounts.size(), 3U);
  EXPECT_EQ(mounts[0].version, 1);
  EXPECT_EQ(mounts[0].point, "/sys/fs/cgroup/memory");
  EXPECT_THAT(mounts[1].controllers, ElementsAre("rw", "cpu", "cpuacct"));
  EXPECT_EQ(mounts[2].version, 2);
  EXPECT_EQ(mounts[2].point, "/sys/fs/cgroup/uni fied");
}

TEST(CgroupParsers, OwnGroups) {
  const auto own =
      parse_own_cgroups("4:memory:/a:b\n2:cpu,cpuacct:/c\n1:name=systemd:/\n0::/user.slice\nbad\n");
  EXPECT_EQ(own.at("memory"), "/a:b");
  EXPECT_EQ(own.at("cpuacct"), "/c");
  EXPECT_EQ(own.at(""), "/user.slice");
  EXPECT_EQ(own.size(), 5U);
}

// A made-up version 2 tree of plain files.
class FindParent : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cgroup-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    prefix_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(prefix_); }
  void folder(const std::string& path, const std::string& switched_on, bool writable = true) {
    const std::string full = prefix_ + "/cg" + path;
    std::filesystem::create_directories(full);
    std::ofstream(full + "/cgroup.subtree_control") << switched_on << '\n';
    std::ofstream(full + "/cgroup.controllers") << "memory\n";
    if (writable) std::ofstream(full + "/cgroup.procs") << "";
  }
  Result<CgroupParent> find(const std::string& controller, const std::string& own) {
    return find_cgroup_parent(controller, "33 30 0:29 / /cg rw - cgroup2 cgroup2 rw\n",
                              "0::" + own + "\n", prefix_);
  }
  std::string prefix_;
};

TEST_F(FindParent, TheNearestThatHasTheControllerForItsChildren) {
  folder("", "memory cpu");
  folder("/user", "memory cpu");
  folder("/user/app", "memory");
  folder("/user/app/scope", "");
  std::filesystem::remove(prefix_ + "/cg/user/app/scope/cgroup.controllers");
  const auto memory = find("memory", "/user/app/scope");
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->path, prefix_ + "/cg/user/app");
  const auto cpu = find("cpu", "/user/app/scope");
  ASSERT_TRUE(cpu.ok());
  EXPECT_EQ(cpu->path, prefix_ + "/cg/user");
  const auto usage = find("cpuacct", "/user/app/scope");
  ASSERT_TRUE(usage.ok());
  EXPECT_EQ(usage->path, prefix_ + "/cg/user/app/scope") << "needs no controller";
}

TEST_F(FindParent, NoneThatMayBeWritten) {
  folder("", "memory cpu", false);
  folder("/session", "memory cpu", false);
  const auto none = find("memory", "/session");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("memory"));
  EXPECT_EQ(none.error().errno_value, EACCES);
}

TEST_F(FindParent, OwnGroupOutsideTheMountIsNotUsed) {
  folder("", "memory");
  const auto none = find_cgroup_parent(
      "memory", "33 30 0:29 /docker/a /cg rw - cgroup2 cgroup2 rw\n", "0::/docker/ab\n", prefix_);
  EXPECT_FALSE(none.ok());
  const auto below = find_cgroup_parent(
      "memory", "33 30 0:29 /docker/a /cg rw - cgroup2 cgroup2 rw\n", "0::/docker/a\n", prefix_);
  ASSERT_TRUE(below.ok());
  EXPECT_EQ(below->path, prefix_ + "/cg");
  EXPECT_FALSE(find_cgroup_parent("memory", "33 30 0:29 / /cg rw - cgroup2 cgroup2 rw\n",
                                  "0::/../x\n", prefix_)
                   .ok());
}

TEST(CgroupNames, TellTheLivingFromTheDead) {
  EXPECT_FALSE(is_left_behind(cgroup_name_of(::getpid()) + "-0"));
  const pid_t child = ::fork();
  if (child == 0) ::pause();
  const std::string name = cgroup_name_of(child) + "-0";
  EXPECT_FALSE(is_left_behind(name));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_left_behind(name));
}

TEST(CgroupNames, LeaveOthersAlone) {
  for (const char* name :
       {"", "user.slice", "bulkhead-", "bulkhead-1-2-3-4", "bulkhead-x-1-1-0", "bulkhead-1-2-3"})
    EXPECT_FALSE(is_left_behind(name)) << name;
}

class RealCgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    auto parent = find_cgroup_parent("memory");
    if (!parent.ok()) GTEST_SKIP() << "needs cgroup-memory";
    parent_ = *parent;
  }
  CgroupParent parent_;
};

TEST_F(RealCgroup, IsRemovedWithItsObject) {
  std::string path;
  {
    auto cgroup = Cgroup::make(parent_);
    ASSERT_TRUE(cgroup.ok()) << cgroup.error().message;
    path = cgroup->path();
    EXPECT_TRUE(std::filesystem::exists(path));
    const pid_t child = ::fork();
    if (child == 0) ::pause();
    EXPECT_TRUE(cgroup->add(child).ok());
    EXPECT_THAT(cgroup->read("cgroup.procs").value(), HasSubstr(fmt::format("{}", child)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RealCgroup, LeftoversOfTheDeadAreRemoved) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto cgroup = Cgroup::make(parent_);
    ::_exit(cgroup.ok() ? 0 : 1);  // without destructors, as a crash
  }
  const std::string name = cgroup_name_of(child);
  const auto is_there = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(parent_.path))
      if (entry.path().filename().string().starts_with(name)) return true;
    return false;
  };
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  ASSERT_TRUE(is_there());
  auto cgroup = Cgroup::make(parent_);
  ASSERT_TRUE(cgroup.ok());
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace bulkhead
