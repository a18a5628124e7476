#include "sandbox/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sandbox/kernel/kernel.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;

Entry entry(std::string text) { return {std::move(text), {}}; }

class PlanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock_support().abi < kOldestLandlock) GTEST_SKIP() << "needs landlock";
    char name[] = "/tmp/bulkhead-plan-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    inputs_.variables.home = "/nonexistent";
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  Result<Plan> make(const PlanOptions& options = {}, std::string program = "/bin/true",
                    std::string folder = "/") {
    auto policy = Policy::compile(inputs_);
    if (!policy.ok()) return policy.error();
    return make_plan(*policy, {std::move(program)}, {"PATH=/usr/bin:/bin"}, std::move(folder),
                     options);
  }
  static uint64_t access(const Plan& plan, const std::string& path) {
    for (const LandlockRule& rule : plan.landlock) {
      if (rule.path == path) return rule.access;
    }
    return 0;
  }

  PolicyInputs inputs_;
  std::string folder_;
};

TEST_F(PlanTest, WholeTreesBecomeRules) {
  inputs_.manifest.files.read = {entry("/usr"), entry("/nonexistent/x"), entry("/etc/hostname")};
  inputs_.manifest.files.write = {entry(folder_)};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(access(*plan, "/usr"), kLandlockRead | kLandlockIoctl);
  EXPECT_EQ(access(*plan, folder_) & kLandlockWrite, 0u);
  EXPECT_EQ(access(*plan, "/nonexistent/x"), 0u);
  EXPECT_EQ(access(*plan, "/etc/hostname") & ~kLandlockFileRights, 0u) << "a file";
  EXPECT_TRUE(std::is_sorted(plan->landlock.begin(), plan->landlock.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  // The program and its loader, and nothing else, can be executed.
  for (const LandlockRule& rule : plan->landlock) {
    const bool executable = (rule.access & kLandlockExecute) != 0;
    const bool expected =
        rule.path.ends_with("/true") || rule.path.find("/ld-linux") != std::string::npos;
    EXPECT_EQ(executable, expected) << rule.path;
  }
  EXPECT_TRUE(kernel_decides(*plan, Kind::kRead, "/usr/lib/x"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWrite, "/usr/lib/x"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWrite, folder_ + "/new"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, folder_ + "/new"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, "/etc/hostname")) << "files may be replaced";
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWriteStatus, folder_ + "/new"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRun, "/usr/bin/true"));
}

// PT_INTERP, at most as long as /bin/true's own.
void set_loader(const std::string& program, const std::string& loader) {
  std::ifstream in("/bin/true", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  constexpr std::string_view kUsual = "/lib64/ld-linux-x86-64.so.2";
  const size_t at = bytes.find(kUsual);
  ASSERT_NE(at, std::string::npos);
  ASSERT_LE(loader.size(), kUsual.size());
  bytes.replace(at, kUsual.size(), loader + std::string(kUsual.size() - loader.size(), '\0'));
  std::ofstream(program, std::ios::binary) << bytes;
  std::filesystem::permissions(program, std::filesystem::perms::all);
}

// Who wrote the program chose the name of its loader: it gives no right to the file of that name.
TEST_F(PlanTest, AnInterpreterIsNoWayToFilesOfTheUser) {
  const std::string program = folder_ + "/program", secret = folder_ + "/s";
  std::ofstream(secret) << "secret";
  ASSERT_NO_FATAL_FAILURE(set_loader(program, secret));
  inputs_.manifest.run = {entry(program)};
  auto plan = make({}, program);
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_NE(access(*plan, program) & kLandlockExecute, 0u);
  EXPECT_EQ(access(*plan, secret), 0u);
  // Granted by itself, it may be the loader.
  inputs_.manifest.files.read = {entry(secret)};
  plan = make({}, program);
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_NE(access(*plan, secret) & kLandlockExecute, 0u);
  // And a block wins, over the loader, over a script's interpreter and over a program.
  inputs_.manifest.files.block = {entry(secret)};
  plan = make({}, program);
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(access(*plan, secret), 0u);
  std::ofstream(program, std::ios::trunc) << "#!" << secret << "\n";
  inputs_.manifest.run = {entry(program), entry(secret)};
  plan = make({}, program);
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(access(*plan, secret), 0u);
}

TEST_F(PlanTest, BlockedInsideMeansNoRule) {
  inputs_.manifest.files.read = {entry(folder_)};
  inputs_.manifest.files.block = {entry(folder_ + "/.env")};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(access(*plan, folder_), 0u);
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, folder_ + "/a"));
}

TEST_F(PlanTest, LinksAndProcAreNoRules) {
  ASSERT_EQ(::symlink("/usr", (folder_ + "/link").c_str()), 0);
  inputs_.manifest.files.read = {entry(folder_ + "/link"), entry("/proc"), entry("/proc/cpuinfo")};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(access(*plan, folder_ + "/link"), 0u);
  EXPECT_EQ(access(*plan, "/proc"), 0u);
  EXPECT_EQ(access(*plan, "/proc/cpuinfo"), 0u);
}

TEST_F(PlanTest, ProcIsNeverTheKernelsAlsoBelowTheRoot) {
  inputs_.manifest.files.read = {entry("/")};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_TRUE(kernel_decides(*plan, Kind::kRead, "/etc/passwd"));
  EXPECT_TRUE(kernel_decides(*plan, Kind::kRead, "/process"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, "/proc/1/environ"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, "/proc"));
}

TEST_F(PlanTest, AskingMakesReadableTreesExecutable) {
  inputs_.manifest.files.read = {entry("/usr")};
  inputs_.manifest.otherwise = Otherwise::kAsk;
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_NE(access(*plan, "/usr") & kLandlockExecute, 0u);
}

TEST_F(PlanTest, RunnableTreesNeedToBeReadableAsAWhole) {
  inputs_.manifest.files.read = {entry("/usr"), entry(folder_)};
  inputs_.manifest.files.block = {entry(folder_ + "/.env")};
  inputs_.manifest.run = {entry("/usr/lib"), entry(folder_)};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(access(*plan, "/usr/lib"), kLandlockExecute | kLandlockRead);
  EXPECT_EQ(access(*plan, "/usr") & kLandlockExecute, 0u);
  EXPECT_EQ(access(*plan, folder_), 0u);
}

TEST_F(PlanTest, AuditLetsEverythingPassButServesIt) {
  const auto plan = make({.enforcement = Enforcement::kAuditOnly});
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  ASSERT_EQ(plan->landlock.size(), 1u);
  EXPECT_EQ(plan->landlock[0].path, "/");
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, "/etc/passwd"));
}

TEST_F(PlanTest, ServingEveryCallLeavesTheKernelNothing) {
  inputs_.manifest.files.read = {entry("/usr")};
  const auto plan = make({.serve_every_call = true});
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_NE(access(*plan, "/usr"), 0u);
  EXPECT_FALSE(kernel_decides(*plan, Kind::kRead, "/usr/lib/x"));
}

TEST_F(PlanTest, ScratchIsPrivateAndWholeWithoutBinds) {
  inputs_.scratch = {"/tmp", "/dev/shm"};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_TRUE(plan->private_tmp);
  EXPECT_TRUE(plan->binds.empty());
  EXPECT_EQ(access(*plan, "/tmp"), kLandlockRead | kLandlockWrite | kLandlockIoctl);
  EXPECT_TRUE(kernel_decides(*plan, Kind::kWrite, "/tmp/x"));
}

TEST_F(PlanTest, ABindBelowScratchTakesItFromTheKernel) {
  inputs_.scratch = {"/tmp"};
  ASSERT_EQ(::mkdir((folder_ + "/sub").c_str(), 0700), 0);
  inputs_.manifest.files.read = {entry(folder_), entry(folder_ + "/sub"), entry("/tmp/missing")};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(plan->binds, std::vector<std::string>{folder_});
  EXPECT_EQ(access(*plan, "/tmp"), 0u) << "a rule there would grant writing what is bound below";
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWrite, "/tmp/x"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWrite, folder_ + "/x"));
  EXPECT_TRUE(kernel_decides(*plan, Kind::kRead, folder_ + "/x"));
}

TEST_F(PlanTest, WhatIsMadeInThePrivateTreeRunsWhereThatIsGranted) {
  inputs_.scratch = {"/tmp", "/dev/shm"};
  Extra extra;
  extra.kind = Kind::kRun;
  extra.entry = entry("/tmp");
  inputs_.extras = {extra};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_TRUE(plan->private_tmp);
  EXPECT_EQ(access(*plan, "/tmp") & kLandlockExecute, kLandlockExecute);
  EXPECT_EQ(access(*plan, "/dev/shm") & kLandlockExecute, 0u);

  inputs_.manifest.files.read = {entry(folder_)};
  const auto bound = make();
  ASSERT_TRUE(bound.ok()) << to_string(bound.error());
  EXPECT_EQ(access(*bound, "/tmp"), 0u) << "a rule there would grant what is bound below";
}

TEST_F(PlanTest, WhatIsKeptStandsInThePrivateTree) {
  const KeptFolder cache{folder_, "/tmp/cache"};
  EXPECT_TRUE(make({.kept = {cache}})->kept.empty()) << "there is no private tree";
  inputs_.scratch = {"/tmp"};
  const auto plan = make({.kept = {cache, {folder_, "/var/cache"}}});
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  ASSERT_EQ(plan->kept.size(), 1U);
  EXPECT_EQ(plan->kept[0].place, "/tmp/cache");
  EXPECT_TRUE(kernel_decides(*plan, Kind::kWrite, "/tmp/cache/x"));
}

TEST_F(PlanTest, WhatAPersonGrantsComesBeforeWhatIsKept) {
  inputs_.scratch = {"/tmp"};
  inputs_.manifest.files.write = {entry(folder_)};
  for (const std::string& place : {folder_, folder_ + "/below"}) {
    const auto plan = make({.kept = {{"/usr", place}}});
    ASSERT_TRUE(plan.ok()) << to_string(plan.error());
    EXPECT_FALSE(plan->binds.empty());
    EXPECT_TRUE(plan->kept.empty()) << place;
  }
}

// By a write that the kernel does not see, a set-id program of the machine's would stay one.
TEST_F(PlanTest, WritingIsTheKernelsInPrivateTreesOnly) {
  inputs_.scratch = {"/tmp"};
  inputs_.manifest.files.write = {entry("/var/tmp")};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_TRUE(kernel_decides(*plan, Kind::kWrite, "/tmp/x"));
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWrite, "/var/tmp/x"));
  for (const LandlockRule& rule : plan->landlock)
    EXPECT_TRUE(rule.path == "/tmp" || (rule.access & kLandlockWrite) == 0) << rule.path;

  inputs_.manifest.files.read = {entry(folder_)};
  inputs_.manifest.files.write = {entry(folder_)};
  const auto bound = make();
  ASSERT_TRUE(bound.ok()) << to_string(bound.error());
  EXPECT_FALSE(kernel_decides(*bound, Kind::kWrite, folder_ + "/x"));
  EXPECT_FALSE(kernel_decides(*bound, Kind::kWrite, "/tmp/x"));
}

TEST_F(PlanTest, SharedTmpWithoutScratch) {
  inputs_.manifest.files.read = {entry("/tmp")};
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_FALSE(plan->private_tmp);
  EXPECT_FALSE(kernel_decides(*plan, Kind::kWrite, "/tmp/x"));
}

TEST_F(PlanTest, WhatWouldBeLostIsRefused) {
  inputs_.scratch = {"/tmp"};
  Extra extra;
  extra.kind = Kind::kWrite;
  extra.entry = entry(folder_ + "/out.txt");
  inputs_.extras = {extra};
  auto plan = make();
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("out.txt does not exist"));
  std::ofstream(folder_ + "/out.txt") << "x";
  plan = make();
  EXPECT_TRUE(plan.ok()) << to_string(plan.error());

  inputs_.extras.clear();
  plan = make({}, "/bin/true", folder_);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("working folder"));
}

TEST_F(PlanTest, ProgramIsLookedUpInThePathOfTheProgram) {
  auto plan = make({}, "true");
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(plan->program, "/usr/bin/true");
  EXPECT_EQ(plan->argv[0], "true");
  plan = make({}, "no-such-program");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().errno_value, ENOENT);
  plan = make({}, "bin/true");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->program, "/bin/true");
}

TEST_F(PlanTest, HiddenPathsThatExist) {
  ASSERT_EQ(::mkdir((folder_ + "/secret").c_str(), 0700), 0);
  inputs_.manifest.files.hide = {entry(folder_ + "/secret"), entry("/nonexistent/y")};
  auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_EQ(plan->hidden, std::vector<std::string>{folder_ + "/secret"});
  inputs_.manifest.files.hide = {entry("/proc/cpuinfo")};
  plan = make();
  EXPECT_FALSE(plan.ok());
}

TEST_F(PlanTest, LimitsReachTheFilter) {
  inputs_.manifest.limits.processes = 5;
  inputs_.manifest.limits.cpu = 1.0;
  const auto plan = make();
  ASSERT_TRUE(plan.ok()) << to_string(plan.error());
  EXPECT_TRUE(plan->count_processes);
  inputs_.manifest.limits = {};
  const auto without = make();
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->count_processes);
  EXPECT_NE(plan->filter.size(), 0u);
}

WholeTree tree(std::string path, bool read, bool write) {
  WholeTree result;
  result.path = std::move(path);
  result.read = read;
  result.write = write;
  return result;
}

TEST(KernelDecides, FindsTheTreesAround) {
  Plan plan;  // of a /tmp of its own, so that none of these need be there
  plan.kernel_decides = {tree("/tmp/a", true, false), tree("/tmp/a/b", false, true),
                         tree("/tmp/a-b", true, false), tree("/tmp/a/b/c", true, false),
                         tree("/tmp/z", true, true)};
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, "/tmp/a/x")) << "no index yet";
  index_kernel_decides(plan);
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, "/tmp/a"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, "/tmp/a/x"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, "/tmp/a/b/x")) << "by /tmp/a";
  EXPECT_TRUE(kernel_decides(plan, Kind::kWrite, "/tmp/a/b/x"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kWrite, "/tmp/a/b/c/d")) << "by /tmp/a/b";
  EXPECT_FALSE(kernel_decides(plan, Kind::kWrite, "/tmp/a/c"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, "/tmp/ab"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, "/tmp/a-b/x"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, "/tmp/a/zzz")) << "behind /tmp/a-b in byte order";
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, "/tmp"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, "/tmp/y"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kWrite, "/tmp/z/z"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, "/tmp/zz"));
}

TEST(KernelDecides, WithdrawnTreesAreTheSupervisors) {
  Plan plan;
  plan.kernel_decides = {tree("/tmp/a", true, false), tree("/tmp/a/b", true, true),
                         tree("/tmp/a/bc", true, true)};
  index_kernel_decides(plan);
  withdraw_from_kernel(plan, "/tmp/a/b");
  EXPECT_FALSE(kernel_decides(plan, Kind::kWrite, "/tmp/a/b/x"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, "/tmp/a/b/x")) << "still by /tmp/a";
  EXPECT_TRUE(kernel_decides(plan, Kind::kWrite, "/tmp/a/bc/x"));
  withdraw_from_kernel(plan, "/");
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, "/tmp/a/x"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kWrite, "/tmp/a/bc/x"));
  withdraw_from_kernel(Plan{}, "/tmp/a");
}

TEST_F(PlanTest, TheKernelDecidesOnlyInFoldersThatWereThereAtTheStart) {
  const std::string late = folder_ + "/late", replaced = folder_ + "/replaced";
  const std::string kept = folder_ + "/kept";
  const auto make_folder = [](const std::string& path) { return ::mkdir(path.c_str(), 0700); };
  ASSERT_EQ(make_folder(replaced) + make_folder(kept), 0);
  Plan plan;
  plan.private_tmp = false;
  plan.kernel_decides = {tree(late, true, true), tree(replaced, true, true),
                         tree(kept, true, true)};
  index_kernel_decides(plan);
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, replaced + "/x"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, late + "/x"));
  // By somebody outside: nobody withdraws it. The next folder may well get the same inode number,
  // and file systems tell when one was made to a tick of the clock.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_EQ(::rmdir(replaced.c_str()), 0);
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, replaced + "/x"));
  ASSERT_EQ(make_folder(replaced) + make_folder(late), 0);
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, replaced + "/x"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kWrite, replaced + "/x"));
  EXPECT_FALSE(kernel_decides(plan, Kind::kRead, late + "/x"));
  EXPECT_TRUE(kernel_decides(plan, Kind::kRead, kept + "/x"));
}

}  // namespace
}  // namespace bulkhead
