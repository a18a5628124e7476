// Breaches each limit for real, in a small compartment of namespaces, as the user who runs the
// tests and as uid 1000, with cgroups (root's own, and some that uid 1000 was given) and without.
#include "sandbox/limits.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "sandbox/cgroup.h"

namespace bulkhead {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = 1U << 20U;
constexpr uid_t kOrdinaryUser = 1000;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BULKHEAD_SANITIZED 1
// Sanitizers map terabytes, which RLIMIT_DATA counts, and each process of theirs is larger.
constexpr bool kSanitized = true;
constexpr uint64_t kUnit = 4 * kMiB;
#else
#define BULKHEAD_SANITIZED 0
constexpr bool kSanitized = false;
constexpr uint64_t kUnit = kMiB;
#endif

// ---- a compartment as far as limits are concerned ----

[[noreturn]] void fail(const char* step) {
  fmt::print(stderr, "compartment: {}: {}\n", step, std::strerror(errno));
  ::_exit(99);
}

// pid 1 inside: mounts /proc and a private /tmp, starts the program once told to, reaps.
[[noreturn]] void be_init(int mapped, int go, const Limits& limits,
                          const std::function<int()>& program) {
  char byte = 0;
  if (::read(mapped, &byte, 1) != 1) fail("wait for the maps");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail("private mounts");
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    fail("mount /proc");
  if (::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) fail("mount /tmp");
  const pid_t child = ::fork();
  if (child == 0) {
    Limits applied = limits;
    if (kSanitized) applied.memory.reset();
    if (apply_rlimits(applied) != 0) fail("rlimits");
    if (::read(go, &byte, 1) != 1) fail("wait to go");
    ::_exit(program());
  }
  if (::write(go, "r", 1) != 1) fail("report");
  for (;;) {
    int status = 0;
    const pid_t pid = ::wait(&status);
    if (pid == child) ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    if (pid < 0) fail("wait");
  }
}

bool write_text(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Cgroups that root gives to an ordinary user, as systemd does by Delegate=yes: one in each
// hierarchy, with a cgroup in it for who starts there.
class Delegation {
 public:
  explicit Delegation(uid_t uid) {
    for (const char* controller : {"memory", "cpu", "cpuacct"}) {
      const auto parent = find_cgroup_parent(controller);
      if (!parent.ok() || (parent->version == 2 && !given_.empty())) continue;
      const std::string given = fmt::format("{}/limits-test-{}", parent->path, ::getpid());
      if (std::find(given_.begin(), given_.end(), given) != given_.end()) continue;
      given_.push_back(given);
      std::filesystem::create_directory(given);
      EXPECT_TRUE(parent->version == 1 ||
                  write_text(given + "/cgroup.subtree_control", "+memory +cpu"));
      std::filesystem::create_directory(given + "/start");
      for (const char* name :
           {"", "/cgroup.procs", "/cgroup.subtree_control", "/start", "/start/cgroup.procs"})
        EXPECT_TRUE(::chown((given + name).c_str(), uid, uid) == 0 || parent->version == 1) << name;
    }
  }
  Delegation(const Delegation&) = delete;
  Delegation& operator=(const Delegation&) = delete;
  ~Delegation() {
    for (const std::string& given : given_) {
      EXPECT_TRUE(removed(given + "/start")) << given << ": " << std::strerror(errno);
      EXPECT_TRUE(removed(given)) << given << ": " << std::strerror(errno);
    }
  }
  bool enter() const {
    return std::all_of(given_.begin(), given_.end(), [](const std::string& given) {
      return write_text(given + "/start/cgroup.procs", "0");
    });
  }

 private:
  // Who was just reaped is counted for some milliseconds more; what a compartment left is EBUSY
  // too.
  static bool removed(const std::string& folder) {
    for (int i = 0; i < 100; ++i) {
      if (::rmdir(folder.c_str()) == 0 || errno != EBUSY) break;
      ::usleep(2000);
    }
    return ::access(folder.c_str(), F_OK) != 0;
  }
  std::vector<std::string> given_;
};

struct Outcomes {
  bool breached = false;
  bool kernel = false;  // told by ended_by_kernel()
  LimitBreached::Which which = LimitBreached::Which::kMemory;
  int exit_code = -1;
  uint64_t peak = 0;  // the keeper's
  LimitMechanisms mechanisms;
  char message[240] = {};
};

// The supervisor's part. Runs in a process of its own, which may have dropped its privileges.
Outcomes supervise_limits(const Limits& limits, const LimitOptions& options,
                          const std::function<int()>& program) {
  Outcomes out;
  const auto give_up = [&](const std::string& text) {
    fmt::format_to_n(out.message, sizeof out.message - 1, "test: {}", text);
    return out;
  };
  auto prepared = LimitKeeper::prepare(limits, options);
  if (!prepared.ok()) return give_up(prepared.error().message);
  LimitKeeper& keeper = **prepared;
  int mapped[2], go[2];
  if (::pipe2(mapped, O_CLOEXEC) != 0 ||
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
    return give_up("pipes");
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const long init = ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD,
                              nullptr, nullptr, nullptr, nullptr);
  if (init < 0) return give_up("clone");
  if (init == 0) be_init(mapped[0], go[1], limits, program);
  const std::string base = fmt::format("/proc/{}/", init);
  if (!write_text(base + "setgroups", "deny") ||
      !write_text(base + "uid_map", fmt::format("{} {} 1", uid, uid)) ||
      !write_text(base + "gid_map", fmt::format("{} {} 1", gid, gid)) ||
      ::write(mapped[1], "m", 1) != 1)
    return give_up("maps");
  char byte = 0;
  if (::read(go[0], &byte, 1) != 1) return give_up("report");
  const auto children = read_file(fmt::format("{}task/{}/children", base, init), 4096);
  const Fd proc(::open((base + "root/proc").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd tmp(::open((base + "root/tmp").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!children.ok() || !proc || !tmp) return give_up("open /proc and /tmp");
  const Status attached = keeper.attach({.init = static_cast<pid_t>(init),
                                         .program = std::stoi(*children),
                                         .proc = proc.get(),
                                         .tmp = tmp.get(),
                                         .shm = -1});
  if (!attached.ok()) return give_up(attached.error().message);
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, init, 0)));
  if (::write(go[0], "g", 1) != 1) return give_up("go");
  std::optional<LimitBreached> breach;
  for (;;) {
    pollfd fds[2] = {{pidfd.get(), POLLIN, 0}, {keeper.fd(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if ((fds[0].revents & POLLIN) != 0) break;
    if (!breach && (breach = keeper.poll())) ::kill(static_cast<pid_t>(init), SIGKILL);
  }
  if (!breach && (breach = keeper.ended_by_kernel())) out.kernel = true;
  int status = 0;
  ::waitpid(static_cast<pid_t>(init), &status, 0);
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  out.peak = keeper.peak_memory();
  out.mechanisms = keeper.mechanisms();
  if (breach) {
    out.breached = true;
    out.which = breach->which;
    fmt::format_to_n(out.message, sizeof out.message - 1, "{}", breach->message);
  }
  return out;
}

// Runs all that in a child of its own under `uid`, within what was given to it.
Outcomes measure(uid_t uid, const Delegation* given, const Limits& limits,
                 const LimitOptions& options, const std::function<int()>& program) {
  int result[2];
  EXPECT_EQ(::pipe2(result, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (given != nullptr && !given->enter()) fail("enter the cgroups");
    if (::geteuid() != uid) {
      if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0)
        fail("drop privileges");
      ::prctl(PR_SET_DUMPABLE, 1);  // lost with the uid; /proc/PID of our children must be ours
    }
    const Outcomes out = supervise_limits(limits, options, program);
    const bool told = ::write(result[1], &out, sizeof out) == sizeof out;
    ::_exit(told ? 0 : 1);
  }
  ::close(result[1]);
  Outcomes out;
  EXPECT_EQ(::read(result[0], &out, sizeof out), static_cast<ssize_t>(sizeof out));
  ::close(result[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return out;
}

bool can_make_compartments() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

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
    if (!can_make_compartments()) GTEST_SKIP() << "needs user-namespaces";
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
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
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
    return measure(GetParam().uid, given_ ? &*given_ : nullptr, limits,
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
  const Outcomes out = run(limits, [] {
    touch(48 * kUnit);
    for (int i = 0; i < 8; ++i)
      if (::fork() == 0) {
        ::usleep(300'000);  // several samples
        ::_exit(0);
      }
    while (::wait(nullptr) > 0) {
    }
    return 0;
  });
  EXPECT_FALSE(out.breached) << out.message;
  EXPECT_EQ(out.exit_code, 0);
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
  const Outcomes out = run(limits, [] {
    const int file = ::open("/tmp/shared", O_RDWR | O_CREAT, 0600);
    if (::ftruncate(file, 64 * kUnit) != 0) return 3;
    void* area =
        ::mmap(nullptr, 64 * kUnit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    ::usleep(300'000);
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
