// SettledOpens: opens that the kernel was told to go on with a moment ago. A program that opens
// the same file again is told the same without another decision: reading its path is then all that
// the supervisor does.
//
// This decides nothing. What is kept here was allowed by the policy, no symlink was on its way,
// and Landlock grants it, so Landlock judges whatever the kernel finds there. Used by the
// serving thread alone.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "sandbox/kernel/notification.h"

namespace bulkhead {

struct SettledOpen {
  std::string path;                                     // absolute, as the caller wrote it
  std::array<std::atomic<uint64_t>*, 2> counters = {};  // of the journal's rows; null: none
};

class SettledOpens {
 public:
  // What must not have changed since. A second is how long a change from outside the compartment
  // may go unnoticed (Walker::way_to).
  struct Epoch {
    uint64_t changes = 0;  // Walker::changes
    uint32_t execs = 0;    // Processes::execs
    int64_t second = 0;
    friend bool operator==(const Epoch&, const Epoch&) = default;
  };
  static Epoch epoch(uint64_t changes, uint32_t execs) noexcept;

  void keep(const Notification& notification, SettledOpen open, const Epoch& epoch);
  // True where the very same open is kept; it has been counted then.
  bool repeats(const Notification& notification, const Epoch& epoch);

 private:
  struct Slot {
    pid_t tid = 0;
    int number = 0;
    uint32_t flags = 0;
    Epoch epoch;
    SettledOpen open;
  };
  // A thread whose opens repeat is worth looking at; looking costs about what it spares.
  struct Caller {
    pid_t tid = 0;
    uint32_t execs = 0;
    int32_t credit = 0;  // below 0: so many opens are not looked at
    Fd memory;
  };
  Slot& slot_of(std::string_view path, pid_t tid, uint32_t flags);
  Caller& caller_of(pid_t tid, uint32_t execs);
  // The string at `address`, where it is short and ends in its page; else "".
  std::string_view read_path(Caller& caller, uint64_t address);

  std::array<Slot, 1024> slots_;
  std::array<Caller, 16> callers_;
  std::array<char, 256> text_;
};

}  // namespace bulkhead
