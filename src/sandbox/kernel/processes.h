// Processes: what the supervisor knows about the compartment's threads and processes, read from
// /proc when it is needed. Thread-safe.
//
// Thread and process numbers are the supervisor's own; "inner" ones are those of the compartment's
// pid namespace. A number can be used again after its owner died: what is read here only holds if
// the notification that it was read for is still valid afterwards (Listener::still_valid).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// From /proc/TID/status.
struct ThreadStatus {
  pid_t process = 0;        // thread group
  pid_t inner_process = 0;  // as the compartment's /proc names it
  pid_t inner_thread = 0;
  mode_t umask = 022;
  uid_t user = 0;  // the effective ones, as a peer of a socket is told
  gid_t group = 0;
  uid_t file_user = 0;        // fsuid
  gid_t file_group = 0;       // fsgid
  uint64_t capabilities = 0;  // the effective ones
  std::vector<gid_t> groups;
};

class Processes {
 public:
  // `proc`: O_PATH of the compartment's /proc (not owned); -1 where there is none (tests).
  explicit Processes(int proc) : proc_(proc) {}

  std::optional<ThreadStatus> status(pid_t tid) const;
  // Who a thread is for the journal: may be up to a second old, so never for a decision.
  struct Who {
    pid_t process = 0;
    uint32_t execs = 0;  // differs after each program that the process executes
  };
  Who who(pid_t tid);
  void note_exec(pid_t tid);
  // How often note_exec was called.
  uint32_t execs() const noexcept { return execs_.load(std::memory_order_relaxed); }
  // Canonical path of the executable; "" when it is gone.
  static std::string program(pid_t tid);

  // The number that we know the process or thread `inner` of `tid`'s pid namespace by.
  std::optional<pid_t> outer(pid_t tid, pid_t inner) const;

  // A duplicate of the thread's descriptor, or errno as an error (EBADF where it has none).
  Result<Fd> borrow(pid_t tid, int number) const;

  // How many processes the compartment has, its init left out; kUncounted where that cannot be
  // told.
  static constexpr uint32_t kUncounted = 1U << 30U;
  uint32_t count() const;

  // execve is checked and then done by the kernel, which reads the path again: hygiene, so what
  // really started is compared at the next notified call of the process.
  struct Executable {
    uint64_t device = 0, inode = 0;
    bool operator==(const Executable&) const = default;
  };
  static std::optional<Executable> executable_of(pid_t tid);
  void expect(pid_t process, const Executable& old_one, const Executable& new_one);
  // What the process executes next nobody can tell; an earlier execve of its has failed.
  void forget_expected(pid_t process);
  // The executable that started instead of the expected one; nullopt where all is well or nothing
  // was expected. Forgets the expectation.
  std::optional<std::string> unexpected(pid_t tid);
  // Of processes that died before their next call nothing is expected: asks the kernel for each.
  void forget_dead();
  bool expects_any() const noexcept { return expected_count_.load(std::memory_order_relaxed) != 0; }

  // True the first time.
  bool take_first_exec() noexcept { return !first_exec_.exchange(true); }

  // Set once a process changes its user, groups or capabilities: from then on the supervisor opens
  // with the caller's identity. Until then every process has the supervisor's.
  void note_changed_identity() noexcept { changed_identity_.store(true); }
  bool changed_identity() const noexcept {
    return changed_identity_.load(std::memory_order_relaxed);
  }

  // Storage that calls took for their callers and the kernel counts for nobody: a folder's block, a
  // long link's, attributes, names. What is written to files it counts by itself.
  void note_taken(uint64_t bytes) noexcept { taken_.fetch_add(bytes, std::memory_order_relaxed); }
  const std::atomic<uint64_t>& taken() const noexcept { return taken_; }

  // Filters of system calls that its threads have besides the compartment's own; those that several
  // share count for each. kUncounted where that cannot be told.
  uint32_t filters() const;
  // Whether another may be installed. The kernel's memory for one, some 90 KB at the most, is seen
  // in no process's numbers; the memory for compiled programs, of which it also takes, is the
  // machine's.
  bool take_filter();
  static constexpr uint32_t kMostFilters = 1024;

  // Forks that the kernel was told to go on with and that /proc may not show yet: those of threads
  // that may still be in that call. `tid`, which calls again, is not.
  uint32_t forks_under_way(pid_t tid);
  void note_fork(pid_t tid);

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    Who who;
    Clock::time_point when{};
  };
  struct Expected {
    Executable old_one, new_one;
  };
  struct Fork {
    pid_t tid;
    uint64_t ticks;  // that it had spent on a processor when it was told
  };
  static bool has_left(const Fork& fork);

  int proc_;
  std::atomic<bool> changed_identity_ = false;
  std::atomic<bool> first_exec_ = false;
  std::atomic<uint32_t> expected_count_ = 0;
  std::atomic<uint64_t> taken_ = 0;
  std::mutex mutex_;
  std::atomic<uint32_t> execs_ = 0;
  std::unordered_map<pid_t, Known> known_;
  std::unordered_map<pid_t, Expected> expected_;
  std::vector<Fork> forks_;
  uint32_t filters_ = 0;  // that there are at the most
  std::chrono::steady_clock::time_point filters_counted_;
};

// Parses the text of /proc/TID/status; nullopt where a line is missing.
std::optional<ThreadStatus> parse_thread_status(std::string_view text);

}  // namespace bulkhead
