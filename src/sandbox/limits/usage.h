// What the processes of a compartment use, read from its /proc. Works unprivileged for the owner of
// the compartment's user namespace.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/kernel/process_stat.h"

namespace bulkhead {

// Parsers, pure: false on what the kernel would not write.
// "Name:   123 kB" in /proc/PID/status, smaps_rollup, io (there without unit); false if absent.
bool parse_field(std::string_view text, std::string_view name, uint64_t* value);

// The sum of a quantity that a process takes with it when it dies, unless its parent waits for it:
// CPU time, written bytes (wait_task_zombie() in the kernel adds both to the parent).
// A death nobody waited for keeps its last sampled value; what was inherited is not counted twice.
class Inheritance {
 public:
  struct Sample {
    uint64_t own = 0;        // including everything inherited so far
    uint64_t inherited = 0;  // part of own; where the kernel does not tell: own, see update()
  };
  // One key per process (pid and start time). Returns the total of the whole life of
  // the tree, which never falls. With inherited = own, growth of the living hides as
  // much of an unwaited death.
  uint64_t update(const std::map<uint64_t, Sample>& living);

 private:
  std::map<uint64_t, Sample> last_;
  uint64_t lost_ = 0;
  uint64_t total_ = 0;
};

// What one of the lists of System V objects stands for, proc_sysvipc(5): pages of segments, also of
// those that no process has attached; semaphores and messages.
enum class SystemV : uint8_t { kSegments, kSemaphores, kMessages };
inline constexpr size_t kSystemVLists = 3;
inline constexpr std::array<const char*, kSystemVLists> kSystemVFiles = {
    "/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"};
// Bytes, with what each of `threads` may keep to undo its semaphore operations at its end.
uint64_t parse_system_v(std::string_view text, SystemV list, uint64_t threads = 0);

// A compartment's /proc.
class ProcReader {
 public:
  explicit ProcReader(Fd proc) : proc_(std::move(proc)) {}

  // Process ids inside the compartment, ascending. Includes init.
  Result<std::vector<pid_t>> processes() const;

  // Each returns nullopt or false where the process is gone.
  std::optional<ProcessStat> stat(pid_t pid) const;
  // What it has in memory, with what is swapped out, and what the kernel takes for it: tables of
  // its pages, which a process can have gigabytes of without a page, its threads, the table of its
  // descriptors, which is as long as the highest number, and descriptors beyond a usual number.
  struct Resident {
    uint64_t pages = 0, swapped = 0, kernel = 0, threads = 0, numbers = 0;
  };
  bool resident(pid_t pid, Resident* memory) const;
  // What is open takes the kernel's memory, and is a descriptor or several (dup, fork). So the
  // first are free: no more than usual programs have, and what a process has beside them weighs
  // more.
  uint64_t descriptor_bytes(pid_t pid) const;
  // Each page divided by the number of processes that map it, with swap; slower. Shared memory
  // (tmpfs files, memfds, shared anonymous memory) apart, because it may be counted elsewhere too.
  struct Proportional {
    uint64_t other = 0;
    uint64_t shared_files = 0;
  };
  bool proportional(pid_t pid, Proportional* memory) const;
  // Opens what written_bytes() reads, of the whole process and for as long as it lives; not open
  // where an ordinary user's process had lost its first thread by then.
  Fd written_count(pid_t pid) const;
  static bool written_bytes(const Fd& count, uint64_t* bytes);
  // The numbers of processes, or threads, where we are: what kcmp(2) and pidfd_open(2) take.
  // Missing are those that have gone.
  std::map<pid_t, pid_t> outside(const std::vector<pid_t>& pids) const;
  // The first thread has ended, and others go on and are not about to end.
  bool outlives_its_first_thread(pid_t pid) const;
  // How many maps it has, each of which the kernel keeps though no page be in it: dear to count.
  uint64_t maps(pid_t pid) const;
  // Of what processes have open: pages of memfds, by inode; and how many of the files below /proc
  // that tell of a descriptor, each of which keeps its text while it is open: with a line for each
  // file that an epoll or inotify watches. Sockets by inode, with the first who has it, by what
  // number: a child that has inherited it may be gone a moment later.
  struct Holder {
    pid_t thread = -1;
    int number = -1;
  };
  struct Open {
    std::map<uint64_t, uint64_t> memfds;
    std::map<uint64_t, Holder> sockets;
    uint64_t tellers = 0;
  };
  void add_open(pid_t pid, Open* open) const;

 private:
  Fd open(pid_t pid, const char* name) const;
  bool read(pid_t pid, const char* name, std::string_view* text) const;
  // As read(), by a thread that lives, where the first one has ended: what the process has is not
  // told by that one's name any more.
  bool read_of_thread(pid_t pid, const char* name, std::string_view* text) const;
  std::optional<pid_t> further_thread(pid_t pid) const;
  // How many are open, as /proc/PID/fd tells by its size since Linux 6.2, and by its entries
  // before.
  uint64_t descriptors(pid_t pid) const;
  Fd proc_;
  // So: one thread. A process may be in 65,536 groups, and what counts stands behind them; what is
  // not needed is not touched.
  static constexpr size_t kBuffer = 1U << 20U;
  std::unique_ptr<char[]> buffer_{new char[kBuffer]};
};

}  // namespace bulkhead
