// LimitKeeper: holds a compartment to its limits, by the tightest mechanism that this machine and
// this user have, and refuses a limit for which there is none. The first is a cgroup's, where this
// user is root or was delegated one:
//
//   memory     memory.max, swap included     otherwise sampled: RSS, confirmed by PSS; RLIMIT_DATA
//   cpu        cpu.max                       otherwise whole cores only: affinity
//   cpu_time   cpu.stat of the cgroup        otherwise sampled: living and waited-for processes
//   wall_time  timer
//   files      RLIMIT_NOFILE of each process
//   written    sampled: /proc/PID/io
//   processes  counted where they fork (calls/process.cc), not here
//
// What sampling does not stop: an overshoot between two samples (4 to 50 ms apart, closer as the
// limit comes near); CPU time and written bytes of a process that lives shorter than that and whose
// parent ignores SIGCHLD; memory that no process maps, except memfds (seen every 200 ms) and the
// private /tmp and /dev/shm; kernel memory, except page tables, threads, maps, System V objects,
// sockets with their buffers (those of the internet every 200 ms) and the files of those two.
// Shared memory counts by what is mapped or by what the files hold, whichever is more. `written`
// counts pages as the kernel dirties them for storage, and a block for what calls make without
// writing (folders, long links, attributes; less for a name): not tmpfs (that is memory), not other
// metadata, not what network and FUSE file systems write through. Where the block group
// kernel-settings is lifted, a compartment that may write below /sys/fs/cgroup as the owner of our
// cgroup may leave it.
//
// What the supervisor makes for a program is charged to the supervisor's cgroup and not to the
// compartment's: names in the private trees and open files are looked at every 100 ms, attributes
// there are refused (calls/status.cc). What an overlay copies for it is counted where it is served
// (server.cc). Buffers of connections that leave are asked of each socket, except where a cgroup of
// version 2 is: not looked at.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "policy/manifest.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/limits/process_limits.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {

// What the processes of a compartment use at this moment: pages of all of them, what several share
// counting for each, and processor time, without that of processes that nobody waited for.
struct UsedNow {
  uint64_t memory = 0;
  std::chrono::milliseconds cpu_time{0};
  uint32_t processes = 0;
};

enum class Mechanism : uint8_t { kNone, kCgroup, kSampling, kAffinity, kTimer };

struct LimitMechanisms {
  Mechanism memory = Mechanism::kNone;
  Mechanism cpu = Mechanism::kNone;
  Mechanism cpu_time = Mechanism::kNone;
  Mechanism wall_time = Mechanism::kNone;
  Mechanism written = Mechanism::kNone;
};

struct LimitOptions {
  bool use_cgroups = true;  // false: the fallbacks, also where a cgroup could be had (tests)
};

// What the filter has to refuse so that a limit holds.
// sched_setaffinity: would undo the affinity of a CPU limit.
inline bool pins_cpus(const Limits& limits) { return limits.cpu.has_value(); }
// fallocate (EOPNOTSUPP, so that posix_fallocate writes instead): takes disk space that the kernel
// counts for nobody.
inline bool counts_written(const Limits& limits) { return limits.written.has_value(); }
// Threads with descriptors of their own (ENOMEM), which may be memfds.
inline bool counts_memory(const Limits& limits) { return limits.memory.has_value(); }

// What each process keeps to by itself: RLIMIT_NOFILE, and backstops for the sampled limits.
std::vector<ProcessLimit> process_limits(const Limits& limits);

// The compartment, as far as its limits are concerned.
struct LimitTarget {
  // As the supervisor sees them; the program has not executed yet, so it has no children.
  pid_t init = -1, program = -1;
  int proc = -1;  // its /proc (O_PATH); duplicated
  int tmp = -1;   // a file system that is its alone (/tmp), counted as memory; -1: none
  int shm = -1;   // the same for /dev/shm
  // Its lists of System V objects, open for reading, in the order of SystemV; duplicated; -1: none.
  std::array<int, kSystemVLists> system_v = {-1, -1, -1};
  int socket_diag = -1;  // see socket_memory.h; duplicated; -1: none
  // Bytes that are written besides those that the kernel counts for its processes; outlives the
  // last poll(). nullptr: none.
  const std::atomic<uint64_t>* taken = nullptr;
};

class LimitKeeper {
 public:
  // Makes the cgroups. An error names the limit that cannot be kept and why.
  static Result<std::unique_ptr<LimitKeeper>> prepare(const Limits& limits,
                                                      const LimitOptions& options = {});
  virtual ~LimitKeeper() = default;  // removes the cgroups; the compartment must have ended

  // Before the program's execve is answered.
  virtual Status attach(const LimitTarget& target) = 0;
  // The program is let go: the wall time starts here, and looking.
  virtual void begin() = 0;

  // Readable when poll() wants to be called (a timer); -1 where nothing is to be watched.
  virtual int fd() const = 0;
  // Looks at everything and sets the timer anew. A breach is told each time from then on; the
  // caller kills the compartment.
  virtual std::optional<LimitBreached> poll() = 0;
  // After the end of the compartment, before its outcome is settled: whether the kernel killed some
  // of it for its memory limit, which looks like any other end. Exits and signals count first for
  // all other limits.
  virtual std::optional<LimitBreached> ended_by_kernel() = 0;

  virtual Result<UsedNow> used() = 0;
  // Those that are set in `to` hold from now on. Only what was limited at the start can be; by an
  // error nothing has changed. `processes` is its counter's to change.
  virtual Status change(const Limits& to) = 0;

  virtual uint64_t peak_memory() const = 0;  // bytes, of a cgroup with cached files; 0: no limit
  virtual LimitMechanisms mechanisms() const = 0;
};

}  // namespace bulkhead
