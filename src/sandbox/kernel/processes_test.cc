#include "sandbox/kernel/processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

namespace bulkhead {
namespace {

TEST(ThreadStatus, ReadsWhatTheKernelWrites) {
  const auto status = parse_thread_status(
      "Name:\tTgid:\t9\nUmask:\t0027\nState:\tR (running)\nTgid:\t120\nNgid:\t0\nPid:\t121\n"
      "Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nFDSize:\t64\nGroups:\t10 20 \n"
      "NStgid:\t120\t7\nNSpid:\t121\t8\nNSpgid:\t1\nCapEff:\t00000000000000c1\n");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->process, 120);
  EXPECT_EQ(status->inner_process, 7);
  EXPECT_EQ(status->inner_thread, 8);
  EXPECT_EQ(status->umask, 027U);
  EXPECT_EQ(status->user, 2U);
  EXPECT_EQ(status->group, 6U);
  EXPECT_EQ(status->file_user, 4U);
  EXPECT_EQ(status->file_group, 8U);
  EXPECT_EQ(status->capabilities, 0xc1U);
  EXPECT_EQ(status->groups, (std::vector<gid_t>{10, 20}));
}

TEST(ThreadStatus, RefusesWhatIsIncomplete) {
  EXPECT_FALSE(parse_thread_status("").has_value());
  EXPECT_FALSE(parse_thread_status("Tgid:\t1\nUmask:\t0\nUid:\t1\t1\t1\t1\n").has_value());
  EXPECT_FALSE(parse_thread_status("Tgid:\tx\nUmask:\t0022\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
                                   "NStgid:\t1\nNSpid:\t1\n")
                   .has_value());
}

TEST(ThreadStatus, OfAThreadOfOurs) {
  const Processes processes(-1);
  std::thread([&] {
    const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
    const auto status = processes.status(tid);
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->process, ::getpid());
    EXPECT_EQ(status->inner_thread, tid);
    EXPECT_EQ(status->user, ::geteuid());
    EXPECT_EQ(status->file_user, ::geteuid());
  }).join();
}

TEST(Borrow, DescriptorsOfThreadsAndErrors) {
  const Processes processes(-1);
  const Fd memory(::memfd_create("borrowed", MFD_CLOEXEC));
  std::thread([&] {
    const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
    auto duplicate = processes.borrow(tid, memory.get());
    ASSERT_TRUE(duplicate.ok()) << to_string(duplicate.error());
    struct stat a {
    }, b{};
    ::fstat(memory.get(), &a);
    ::fstat(duplicate->get(), &b);
    EXPECT_EQ(a.st_ino, b.st_ino);
    EXPECT_NE(duplicate->get(), memory.get());
    const auto missing = processes.borrow(tid, 12345);
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().errno_value, EBADF);
  }).join();
}

TEST(Expectation, HoldsUntilTheProgramChanges) {
  Processes processes(-1);
  const auto own = Processes::executable_of(::getpid());
  ASSERT_TRUE(own.has_value());
  const Processes::Executable other{1, 2};
  const Processes::Executable third{1, 3};

  EXPECT_FALSE(processes.expects_any());
  // Not executed yet, or failed: neither good nor bad, however often it is looked at.
  processes.expect(::getpid(), *own, other);
  EXPECT_FALSE(processes.unexpected(::getpid()).has_value());
  EXPECT_FALSE(processes.unexpected(::getpid()).has_value());
  EXPECT_TRUE(processes.expects_any());
  // The expected one runs.
  processes.expect(::getpid(), other, *own);
  EXPECT_FALSE(processes.unexpected(::getpid()).has_value());
  EXPECT_FALSE(processes.expects_any());
  // Something else runs.
  processes.expect(::getpid(), other, third);
  EXPECT_EQ(processes.unexpected(::getpid()), Processes::program(::getpid()));
  EXPECT_FALSE(processes.expects_any());
}

TEST(Expectation, OfAnExecutionThatFailedIsForgotten) {
  Processes processes(-1);
  processes.expect(::getpid(), {1, 2}, {1, 3});
  processes.forget_expected(::getpid());
  EXPECT_FALSE(processes.expects_any());
  EXPECT_FALSE(processes.unexpected(::getpid()).has_value());
}

TEST(Expectation, OfTheLivingStaysWhoeverDies) {
  Processes processes(-1);
  const auto own = Processes::executable_of(::getpid());
  ASSERT_TRUE(own.has_value());
  processes.expect(::getpid(), {1, 2}, {1, 3});
  // More than any machine numbers (PID_MAX_LIMIT), so that nobody has them.
  constexpr pid_t kNobody = 1 << 22;
  for (pid_t dead = kNobody; dead < kNobody + 70'000; ++dead) processes.expect(dead, *own, {1, 2});
  processes.forget_dead();
  EXPECT_TRUE(processes.unexpected(::getpid()).has_value());
  EXPECT_FALSE(processes.expects_any());
}

TEST(Who, NoticesAnotherProgramInTheSameProcess) {
  Processes processes(-1);
  const auto before = processes.who(::getpid());
  EXPECT_EQ(before.process, ::getpid());
  EXPECT_EQ(processes.who(::getpid()).execs, before.execs);
  processes.note_exec(::getpid());
  EXPECT_NE(processes.who(::getpid()).execs, before.execs);
}

TEST(Filters, AreCountedWhileTheirProcessLives) {
  const Fd proc(::open("/proc", O_PATH | O_CLOEXEC));
  Processes processes(proc.get());
  const uint32_t before = processes.filters();
  std::array<int, 2> told{};
  ASSERT_EQ(::pipe(told.data()), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog program{1, &allow};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(1);
    for (uint32_t i = 0; i <= Processes::kMostFilters; ++i)
      if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) ::_exit(1);
    (void)!::write(told[1], "", 1);
    for (;;) ::pause();
  }
  ::close(told[1]);
  char ready = 1;
  ASSERT_EQ(::read(told[0], &ready, 1), 1) << "the filters could not be had";
  EXPECT_GE(processes.filters(), before + Processes::kMostFilters);
  for (uint32_t i = 0; i < Processes::kMostFilters; ++i) EXPECT_TRUE(processes.take_filter());
  EXPECT_FALSE(processes.take_filter());
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  // They are not counted anew by each call.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool taken = false;
  while (!(taken = processes.take_filter()) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(taken) << "the dead have none";
}

TEST(Forks, AreCountedUntilTheirCallerIsSeenElsewhere) {
  Processes processes(-1);
  std::array<int, 2> told{};
  ASSERT_EQ(::pipe(told.data()), 0);
  const pid_t caller = ::fork();
  if (caller == 0) {
    // Stays in the call until its child ends.
    if (const pid_t child =
            static_cast<pid_t>(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0));
        child == 0) {
      const pid_t own = ::getpid();
      (void)!::write(told[1], &own, sizeof own);
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  pid_t child = 0;
  ASSERT_EQ(::read(told[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  processes.note_fork(caller);
  processes.note_fork(1 << 30);  // who has gone
  ::usleep(30'000);
  EXPECT_EQ(processes.forks_under_way(0), 1U);
  ::kill(child, SIGKILL);
  while (processes.forks_under_way(0) != 0) ::usleep(1000);
  processes.note_fork(caller);
  EXPECT_EQ(processes.forks_under_way(caller), 0U);
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
}

}  // namespace
}  // namespace bulkhead
