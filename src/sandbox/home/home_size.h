// HomeSize: keeps what is made in a private home below a limit. The kernel has no quota for a
// folder that an ordinary user could set, so the folder is measured now and again: soon after the
// file system has lost as much room as would matter, and once in a while otherwise. Above the limit
// nothing new is opened for writing there (EDQUOT, a full disk as programs know it); what is open
// already can be written still, so that well above it the compartment is ended. The same holds for
// how many files there are.
//
// look() is for one thread, full() for any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/limits/outcome.h"

namespace bulkhead {

inline constexpr uint64_t kMostHomeFiles = 200'000;
// Well above a limit: a quarter of it, and at least this much.
inline constexpr uint64_t kHomeFilesAbove = 10'000;

class HomeSize {
 public:
  // `told`, where given, is kept at what was measured.
  HomeSize(std::string store, uint64_t most, std::atomic<uint64_t>* told = nullptr,
           uint64_t most_files = kMostHomeFiles)
      : store_(std::move(store)), most_(most), most_files_(most_files), told_(told) {}

  // Where it is time to. A breach: nothing but the compartment's end helps.
  std::optional<LimitBreached> look();
  // Now, whether it is time to or not.
  std::optional<LimitBreached> measure();
  bool full() const noexcept { return full_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  std::string store_;
  uint64_t most_, most_files_;
  std::atomic<uint64_t>* told_;
  std::atomic<bool> full_ = false;
  uint64_t room_ = 0;  // free blocks of the file system when it was measured, in bytes
  Clock::time_point asked_ = {}, measured_ = {};
  Clock::duration took_ = {};
};

}  // namespace bulkhead
