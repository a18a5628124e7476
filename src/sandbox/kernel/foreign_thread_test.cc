#include "sandbox/kernel/foreign_thread.h"

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
#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "sandbox/kernel/kernel.h"

namespace bulkhead {
namespace {

// From here on this process's calls are answered as Linux 6.1 answers them.
bool grow_old() {
  std::array<sock_filter, 10> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pidfd_open, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kPidfdThread, 4, 3),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(kNsGetPidFromPidns), 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
  }};
  const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What `trial` returns in a process of its own: on this kernel, and on an older one.
struct Results {
  int now = -1, before = -1;
  friend bool operator==(const Results&, const Results&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Results& its) {
    return out << its.now << ", before " << its.before;
  }
};

Results try_both(const std::function<int()>& trial) {
  const auto run = [&trial](bool old) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(old && !grow_old() ? 99 : trial());
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  return {run(false), run(true)};
}

bool same_file(int one, int other) {
  struct stat a {
  }, b{};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_ino == b.st_ino;
}

// The result of `code` in a thread, which is not its process's first.
int in_thread(const std::function<int()>& code) {
  int result = -1;
  std::thread([&] { result = code(); }).join();
  return result;
}

TEST(ThreadDescriptors, AreThoseOfItsProcess) {
  const auto trial = [] {
    const Fd memory(::memfd_create("copied", MFD_CLOEXEC));
    return in_thread([&] {
      const ThreadDescriptors own(::gettid());
      const auto copy = own.copy(memory.get());
      if (!copy.ok() || !same_file(copy->get(), memory.get())) return 1;
      const auto missing = own.copy(12345);
      return missing.ok() || missing.error().errno_value != EBADF ? 2 : 0;
    });
  };
  EXPECT_EQ(try_both(trial), (Results{0, 0}));
}

TEST(ThreadDescriptors, AreNeverThoseOfAnotherThread) {
  // 0: its own, 1: another's, otherwise the refusal's errno.
  const auto trial = [] {
    const Fd memory(::memfd_create("first", MFD_CLOEXEC));
    return in_thread([&] {
      const Fd other(::memfd_create("second", MFD_CLOEXEC));
      if (::unshare(CLONE_FILES) != 0 || ::dup2(other.get(), memory.get()) < 0) return 99;
      const auto copy = ThreadDescriptors(::gettid()).copy(memory.get());
      if (!copy.ok()) return copy.error().errno_value;
      return same_file(copy->get(), other.get()) ? 0 : 1;
    });
  };
  const Results results = try_both(trial);
  EXPECT_TRUE(results.now == 0 || results.now == EBADF) << results;
  EXPECT_EQ(results.before, EBADF);
}

TEST(ThreadDescriptors, OfNobody) {
  const auto trial = [] {
    const auto copy = ThreadDescriptors(1 << 30).copy(0);
    return copy.ok() ? 0 : copy.error().errno_value;
  };
  EXPECT_EQ(try_both(trial), (Results{ESRCH, ESRCH}));
}

// The first process of a pid namespace, with a further thread, by our numbers.
class Namespace {
 public:
  Namespace() {
    std::array<int, 2> told{};
    if (::pipe2(told.data(), O_CLOEXEC) != 0) return;
    first = static_cast<pid_t>(
        ::syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER | CLONE_NEWPID, nullptr, nullptr, 0, 0));
    if (first == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::thread([&] {
        const pid_t number = ::gettid();
        (void)!::write(told[1], &number, sizeof number);
        for (;;) ::pause();
      }).join();
    }
    ::close(told[1]);
    if (first > 0) (void)!::read(told[0], &thread_inside, sizeof thread_inside);
    ::close(told[0]);
  }
  ~Namespace() {
    if (first <= 0) return;
    ::kill(first, SIGKILL);
    ::waitpid(first, nullptr, 0);
  }
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

  Fd space() const {
    return Fd(::open(("/proc/" + std::to_string(first) + "/ns/pid").c_str(), O_RDONLY | O_CLOEXEC));
  }

  pid_t first = -1;
  pid_t thread_inside = -1;
};

TEST(NumbersOutside, OfProcessesAndThreads) {
  const Namespace inside;
  if (inside.first < 0) GTEST_SKIP() << "needs user-namespaces";
  ASSERT_GT(inside.thread_inside, 1);
  const auto trial = [&] {
    const Fd space = inside.space();
    const auto found = numbers_outside(space.get(), {1, inside.thread_inside, 4000});
    if (found.size() != 2 || found.at(1) != inside.first) return 1;
    const std::string task = "/proc/" + std::to_string(inside.first) + "/task/" +
                             std::to_string(found.at(inside.thread_inside));
    if (::access(task.c_str(), F_OK) != 0) return 2;
    // Whom it is mostly, and whom it is not.
    if (numbers_outside(space.get(), {1}, inside.first) !=
        std::map<pid_t, pid_t>{{1, inside.first}})
      return 3;
    return numbers_outside(space.get(), {4000}, inside.first).empty() ? 0 : 4;
  };
  EXPECT_EQ(try_both(trial), (Results{0, 0}));
}

}  // namespace
}  // namespace bulkhead
