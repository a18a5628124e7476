// UsageMeter: CPU seconds, memory, processes and servers of a compartment, for who shows them.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "base/fd.h"
#include "base/nlohmann.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {

class UsageMeter {
 public:
  // `proc` is the compartment's /proc; duplicated.
  void start(int proc);
  void stop();
  nlohmann::ordered_json measure();  // null before start() and after stop()

 private:
  using Clock = std::chrono::steady_clock;
  struct Memory {
    uint64_t resident = 0, share = 0;
    Clock::time_point read;
  };
  Memory memory_of(pid_t pid, uint64_t process);

  std::mutex mutex_;
  std::optional<ProcReader> reader_;
  Fd proc_;
  unsigned measured_ = 0;
  std::set<uint16_t> ports_;
  Inheritance cpu_;
  std::map<uint64_t, Memory> memory_;
};

}  // namespace bulkhead
