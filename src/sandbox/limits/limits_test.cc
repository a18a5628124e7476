// Breaches each limit for real, in a small compartment of namespaces, as the user who runs the
// tests and as uid 1000, with cgroups (root's own, and some that uid 1000 was given) and without.
#include "sandbox/limits/limits.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "sandbox/limits/cgroup.h"
#include "sandbox/testing/limited_child.h"

namespace bulkhead {
namespace {

using namespace std::chrono_literals;
using testing::Delegation;
using ::testing::HasSubstr;
using testing::Outcomes;

constexpr uint64_t kMiB = 1U << 20U;
constexpr uid_t kOrdinaryUser = 1000;
constexpr uint64_t kUnit = testing::kSanitized ? 4 * kMiB : kMiB;

// ---- programs ----

// By the kernel, so that no sanitizer keeps books about it.
void touch(uint64_t bytes) {
  if (::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
             0) == MAP_FAILED)
    ::_exit(50);
}

// Shared between the test and every process that it starts: how far a program
// came, by its own count.
std::atomic<uint64_t>& progress() {
  static void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<std::atomic<uint64_t>*>(page);
}

int eat_memory_for_ever() {
  for (;;) {
    touch(kUnit);
    progress() += kUnit;
  }
}

uint64_t own_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

void burn(uint64_t ms) {
  const uint64_t begin = own_cpu_ms();
  while (own_cpu_ms() - begin < ms) {
  }
}

void write_file_of(const std::string& path, uint64_t bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  static const std::string block(kMiB, 'x');
  for (uint64_t done = 0; fd && done < bytes; done += block.size())
    if (::write(fd.get(), block.data(), block.size()) < 0) ::_exit(51);
}

// ---- tests ----

struct Case {
  const char* name;
  uid_t uid;
  bool use_cgroups;
  bool delegated = false;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class LimitsAs : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!testing::can_make_compartments()) GTEST_SKIP() << "needs user-namespaces";
    if (GetParam().uid != ::geteuid() && ::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (GetParam().use_cgroups && !find_cgroup_parent("memory").ok())
      GTEST_SKIP() << "needs cgroup-memory";
    before_ = left_behind();
    if (GetParam().delegated) given_.emplace(GetParam().uid);
    std::string name = "/var/tmp/limits-XXXXXX";  // on a disk: a tmpfs counts as memory
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    ASSERT_EQ(::chmod(name.c_str(), 0777), 0);
    folder_ = name;
    progress() = 0;
  }
  void TearDown() override {
    if (folder_.empty()) return;  // skipped
    std::filesystem::remove_all(folder_);
    if (!in_cgroup()) return;
    given_.reset();
    EXPECT_THAT(left_behind(), ::testing::IsSubsetOf(before_));
  }
  // Cgroups of supervisors that are no more, also such as nobody has had a reason to sweep yet.
  static std::vector<std::string> left_behind() {
    std::vector<std::string> found;
    for (const char* controller : {"memory", "cpu", "cpuacct"}) {
      const auto parent = find_cgroup_parent(controller);
      if (!parent.ok()) continue;
      for (const auto& entry : std::filesystem::directory_iterator(parent->path))
        if (is_left_behind(entry.path().filename().string()))
          found.push_back(entry.path().string());
    }
    return found;
  }
  Outcomes run(const Limits& limits, const std::function<int()>& program) {
    return testing::measure(GetParam().uid, given_ ? &*given_ : nullptr, limits,
                            {.use_cgroups = GetParam().use_cgroups}, program);
  }
  bool in_cgroup() const { return GetParam().use_cgroups; }
  // The message begins with what was used: "memory: 70 MiB used, 64 MiB allowed".
  void expect_breach(const Outcomes& out, LimitBreached::Which which) {
    EXPECT_TRUE(out.breached) << "exit " << out.exit_code << " " << out.message;
    EXPECT_EQ(out.which, which) << out.message;
    fmt::print("    {} (the program took {} MiB)\n", out.message, progress() / kMiB);
  }
  std::string folder_;
  std::vector<std::string> before_;
  std::optional<Delegation> given_;
};

TEST_P(LimitsAs, MemoryOfOneProcess) {
  Limits limits;
  limits.memory = 64 * kUnit;
  const Outcomes out = run(limits, eat_memory_for_ever);
  expect_breach(out, LimitBreached::Which::kMemory);
  EXPECT_EQ(out.mechanisms.memory, in_cgroup() ? Mechanism::kCgroup : Mechanism::kSampling);
  EXPECT_LE(progress(), in_cgroup() ? 64 * kUnit : (2 * 64 + 512) * kUnit)
      << "the backstop, at the latest";
  EXPECT_GE(out.peak, 60 * kUnit);
}

TEST_P(LimitsAs, MemoryOfManyProcesses) {
  Limits limits;
  limits.memory = 64 * kUnit;
  const Outcomes out = run(limits, [] {
    for (int i = 0; i < 16; ++i)
      if (::fork() == 0) {
        for (int n = 0; n < 12; ++n) {
          touch(kUnit);
          progress() += kUnit;
        }
        for (;;) ::pause();
      }
    for (;;) ::pause();
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kMemory);
  // In a cgroup the kernel makes room by killing one, so that the others may take more in all, but
  // never more at a time.
  EXPECT_LE(in_cgroup() ? out.peak : progress().load(), in_cgroup() ? 64 * kUnit : 192 * kUnit)
      << "and that is all that they would take";
}

#if !BULKHEAD_SANITIZED  // the backstop is not set then
TEST_P(LimitsAs, AllocationInOneCallMeetsABackstop) {
  Limits limits;
  limits.memory = 64 * kUnit;
  const Outcomes out = run(limits, [] {
    constexpr size_t kSize = 8192 * kUnit;
    void* area = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return area == MAP_FAILED && errno == ENOMEM ? 7 : 0;
  });
  EXPECT_EQ(out.exit_code, 7) << out.message;
  EXPECT_FALSE(out.breached);
}
#endif

TEST_P(LimitsAs, SharedPagesCountOnce) {
  Limits limits;
  limits.memory = 128 * kUnit;
  const Outcomes out = run(limits, [this] {
    touch(48 * kUnit);
    for (int i = 0; i < 8; ++i)
      if (::fork() == 0) {
        if (!in_cgroup()) testing::be_looked_at(4);
        ::_exit(0);
      }
    while (::wait(nullptr) > 0) {
    }
    return 0;
  });
  EXPECT_FALSE(out.breached) << out.message;
  EXPECT_EQ(out.exit_code, 0);
}

TEST_P(LimitsAs, WhatAChildOfVforkHasIsItsParents) {
  if (::syscall(SYS_kcmp, ::getpid(), ::getpid(), KCMP_VM, 0, 0) < 0) GTEST_SKIP() << "needs kcmp";
  Limits limits;
  limits.memory = 100 * kUnit;
  const Outcomes out = run(limits, [this] {
    touch(60 * kUnit);
    // As vfork does, on a stack of its own.
    alignas(16) static std::array<char, 65536> stack;
    bool sampled = !in_cgroup();
    const auto wait = [](void* is_sampled) -> int {
      if (*static_cast<bool*>(is_sampled)) testing::be_looked_at(4);
      return 0;
    };
    const pid_t child =
        ::clone(wait, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &sampled);
    return child < 0 ? 3 : 0;
  });
  EXPECT_FALSE(out.breached) << out.message;
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_LE(out.peak, 100 * kUnit);
}

TEST_P(LimitsAs, UnmappedMemfdsAreMemory) {
  Limits limits;
  limits.memory = 64 * kUnit;
  const Outcomes out = run(limits, [] {
    const int memfd = ::memfd_create("hidden", 0);
    const std::string block(kUnit, 'x');
    for (;;) {
      // Slowly: memfds are looked at every fourth sample.
      ::usleep(1000);
      if (::write(memfd, block.data(), block.size()) < 0) return 3;
      progress() += kUnit;
    }
  });
  expect_breach(out, LimitBreached::Which::kMemory);
}

TEST_P(LimitsAs, ThePrivateTmpIsMemory) {
  Limits limits;
  limits.memory = 64 * kUnit;
  const Outcomes out = run(limits, [] {
    for (int i = 0;; ++i) {
      write_file_of(fmt::format("/tmp/{}", i), kUnit);
      progress() += kUnit;
    }
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kMemory);
}

TEST_P(LimitsAs, MappedSharedMemoryIsNotCountedTwice) {
  Limits limits;
  limits.memory = 96 * kUnit;
  const Outcomes out = run(limits, [this] {
    const int file = ::open("/tmp/shared", O_RDWR | O_CREAT, 0600);
    if (::ftruncate(file, 64 * kUnit) != 0) return 3;
    void* area =
        ::mmap(nullptr, 64 * kUnit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (!in_cgroup()) testing::be_looked_at(4);
    return area == MAP_FAILED ? 4 : 0;
  });
  EXPECT_FALSE(out.breached) << out.message;
  EXPECT_EQ(out.exit_code, 0);
}

TEST_P(LimitsAs, CpuTimeOfOneProcess) {
  Limits limits;
  limits.cpu_time = 300ms;
  const Outcomes out = run(limits, [] {
    for (;;) burn(1000);
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kCpuTime);
  EXPECT_EQ(out.mechanisms.cpu_time, in_cgroup() ? Mechanism::kCgroup : Mechanism::kSampling);
}

TEST_P(LimitsAs, CpuTimeOfChildrenThatEndQuickly) {
  Limits limits;
  limits.cpu_time = 300ms;
  const Outcomes out = run(limits, [] {
    for (int i = 0; i < 3000; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        burn(3);  // shorter than the time between two samples
        ::_exit(0);
      }
      ::waitpid(child, nullptr, 0);
    }
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kCpuTime);
}

TEST_P(LimitsAs, CpuTimeOfChildrenThatNobodyWaitsFor) {
  Limits limits;
  limits.cpu_time = 500ms;
  const Outcomes out = run(limits, [] {
    ::signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 200; ++i) {
      if (::fork() == 0) {
        burn(200);
        ::_exit(0);
      }
      if (i % 2 == 1) ::usleep(200'000);
    }
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kCpuTime);
}

TEST_P(LimitsAs, WallTime) {
  Limits limits;
  limits.wall_time = 100ms;
  const Outcomes out = run(limits, [] {
    for (;;) ::pause();
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kWallTime);
  EXPECT_THAT(out.message, HasSubstr("0.1 s allowed"));
}

TEST_P(LimitsAs, WrittenByOneProcess) {
  Limits limits;
  limits.written = 32 * kMiB;
  const Outcomes out = run(limits, [this] {
    for (int i = 0;; ++i) write_file_of(fmt::format("{}/{}", folder_, i), 4 * kMiB);
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kWritten);
  uint64_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) there += entry.file_size();
  fmt::print("    {} MiB reached the disk\n", there / kMiB);
  EXPECT_LE(there, 32 * kMiB + 512 * kMiB);
}

// Nobody but root may ask then what the process has written: it is told before, or all is ended.
TEST_P(LimitsAs, WrittenByOneWhoseFirstThreadHasEnded) {
  for (const useconds_t life : {0, 300'000}) {
    Limits limits;
    limits.written = 16 * kMiB;
    const Outcomes out = run(limits, [&] {
      const pid_t child = ::fork();
      if (child == 0) {
        std::thread([&] {
          ::usleep(life + 100'000);
          for (int i = 0; i < 2000; ++i)  // by threads that are seen by nobody
            std::thread([&] { write_file_of(fmt::format("{}/{}", folder_, i % 32), kMiB); }).join();
          ::_exit(0);
        }).detach();
        ::usleep(life);
        ::syscall(SYS_exit, 0);
      }
      ::waitpid(child, nullptr, 0);
      return 0;
    });
    expect_breach(out, LimitBreached::Which::kWritten);
  }
}

TEST_P(LimitsAs, WrittenByChildrenThatEndQuickly) {
  Limits limits;
  limits.written = 16 * kMiB;
  const Outcomes out = run(limits, [this] {
    for (int i = 0; i < 2000; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        write_file_of(fmt::format("{}/{}", folder_, i), kMiB);
        ::_exit(0);
      }
      ::waitpid(child, nullptr, 0);
    }
    return 0;
  });
  expect_breach(out, LimitBreached::Which::kWritten);
}

TEST_P(LimitsAs, DescriptorsOfAProcess) {
  Limits limits;
  limits.files = 20;
  const Outcomes out = run(limits, [] {
    int highest = 0;
    for (int fd = 0; (fd = ::dup(0)) >= 0;) highest = fd;
    if (errno != EMFILE) return 1;
    const rlimit more{30, 30};
    return ::setrlimit(RLIMIT_NOFILE, &more) == 0 ? 2 : highest;
  });
  EXPECT_FALSE(out.breached);
  EXPECT_EQ(out.exit_code, 19) << out.message;
}

TEST_P(LimitsAs, AForkBombIsEndedByItsCpuTime) {
  Limits limits;
  limits.cpu_time = 500ms;
  limits.memory = 4096 * kUnit;
  const Outcomes out = run(limits, [] {
    const rlimit bound{4000, 4000};  // keeps the machine usable should the limit fail
    (void)::setrlimit(RLIMIT_NPROC, &bound);
    for (int i = 0; i < 1500; ++i)
      if (::fork() == 0)
        for (;;) burn(1000);
    for (;;) ::pause();
    return 0;
  });
  EXPECT_TRUE(out.breached) << out.exit_code << out.message;
  fmt::print("    {}\n", out.message);
}

TEST_P(LimitsAs, WithinItsLimitsNothingHappens) {
  Limits limits;
  limits.memory = 256 * kUnit;
  limits.cpu_time = 60s;
  limits.wall_time = 60s;
  limits.written = 64 * kMiB;
  limits.files = 256;
  limits.cpu = 1;
  const Outcomes out = run(limits, [this] {
    touch(16 * kMiB);
    write_file_of(folder_ + "/small", 2 * kMiB);
    burn(120);
    return 23;
  });
  EXPECT_FALSE(out.breached) << out.message;
  EXPECT_EQ(out.exit_code, 23) << out.message;
  // Sampled, a peak may fall between two looks.
  EXPECT_GE(out.peak, in_cgroup() ? 16 * kMiB : 1);
  EXPECT_LE(out.peak, 128 * kUnit);
}

TEST_P(LimitsAs, OneCore) {
  Limits limits;
  limits.cpu = 1;
  const Outcomes out = run(limits, [] {
    cpu_set_t set;
    return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
  });
  if (in_cgroup()) {
    EXPECT_EQ(out.mechanisms.cpu, Mechanism::kCgroup);
  } else {
    EXPECT_EQ(out.mechanisms.cpu, Mechanism::kAffinity);
    EXPECT_EQ(out.exit_code, 1) << out.message;
  }
}

TEST_P(LimitsAs, PartOfACore) {
  Limits limits;
  limits.cpu = 0.25;
  if (!in_cgroup()) {
    const Outcomes out = run(limits, [] { return 0; });
    EXPECT_THAT(out.message, HasSubstr("cannot enforce the limit cpu of 0.25 cores"));
    EXPECT_THAT(out.message, HasSubstr("\"cpu\": 1 (on the command line --cpu 1)"));
    return;
  }
  // Two processes that want all they can get for 0.8 s get a fifth of a second, and a period more.
  const Outcomes out = run(limits, [] {
    timespec begin{}, now{};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    const auto spin = [&] {
      do ::clock_gettime(CLOCK_MONOTONIC, &now);
      while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1'000'000 < 800);
    };
    const pid_t child = ::fork();
    spin();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    rusage own{}, children{};
    ::getrusage(RUSAGE_SELF, &own);
    ::getrusage(RUSAGE_CHILDREN, &children);
    const auto ms = [](const timeval& t) { return t.tv_sec * 1000 + t.tv_usec / 1000; };
    return static_cast<int>(
        (ms(own.ru_utime) + ms(own.ru_stime) + ms(children.ru_utime) + ms(children.ru_stime)) / 4);
  });
  EXPECT_FALSE(out.breached) << out.message;
  EXPECT_LE(out.exit_code * 4, 400) << "plain: 1600 on two cores, 800 on one";
}

std::vector<Case> cases() {
  std::vector<Case> result = {
      {"SampledAsOrdinaryUser", ::geteuid() == 0 ? kOrdinaryUser : ::geteuid(), false}};
  if (::geteuid() == 0) {
    result.push_back({"SampledAsRoot", 0, false});
    result.push_back({"CgroupAsRoot", 0, true});
    result.push_back({"CgroupOfAnOrdinaryUser", kOrdinaryUser, true, true});
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Users, LimitsAs, ::testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace bulkhead
