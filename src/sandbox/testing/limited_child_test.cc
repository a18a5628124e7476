#include "sandbox/testing/limited_child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/fd.h"
#include "sandbox/limits/cgroup.h"

namespace bulkhead::testing {
namespace {

// Shared with every process of a test: how often its keeper has looked.
std::atomic<uint64_t>& looks() {
  static void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<std::atomic<uint64_t>*>(page);
}

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
    for (const ProcessLimit& limit : process_limits(applied))
      if (keep_limit(limit) != 0) fail("rlimits");
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

// Who was just reaped is counted for some milliseconds more; what a compartment left is EBUSY
// too.
bool removed(const std::string& folder) {
  for (int i = 0; i < 100; ++i) {
    if (::rmdir(folder.c_str()) == 0 || errno != EBUSY) break;
    ::usleep(2000);
  }
  return ::access(folder.c_str(), F_OK) != 0;
}

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
  keeper.begin();
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, init, 0)));
  if (::write(go[0], "g", 1) != 1) return give_up("go");
  std::optional<LimitBreached> breach;
  for (;;) {
    pollfd fds[2] = {{pidfd.get(), POLLIN, 0}, {keeper.fd(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if ((fds[0].revents & POLLIN) != 0) break;
    const bool over = !breach && (breach = keeper.poll());
    ++looks();
    if (over) ::kill(static_cast<pid_t>(init), SIGKILL);
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

}  // namespace

Delegation::Delegation(uid_t uid) {
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

Delegation::~Delegation() {
  for (const std::string& given : given_) {
    EXPECT_TRUE(removed(given + "/start")) << given << ": " << std::strerror(errno);
    EXPECT_TRUE(removed(given)) << given << ": " << std::strerror(errno);
  }
}

bool Delegation::enter() const {
  return std::all_of(given_.begin(), given_.end(), [](const std::string& given) {
    return write_text(given + "/start/cgroup.procs", "0");
  });
}

Outcomes measure(uid_t uid, const Delegation* given, const Limits& limits,
                 const LimitOptions& options, const std::function<int()>& program) {
  looks() = 0;  // mapped before anybody is forked
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

void be_looked_at(unsigned times) {
  const timespec little{0, 1'000'000};
  // Not by libc, so that a child that shares its parent's memory may wait as well.
  for (const uint64_t end = looks() + times; looks() < end;)
    ::syscall(SYS_nanosleep, &little, nullptr);
}

bool can_make_compartments() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace bulkhead::testing
