// Caller: the thread that made a notified call, and what following names for it may cost.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>

#include "sandbox/kernel/notification.h"

namespace bulkhead {

class Caller {
 public:
  explicit Caller(const Notification& notification)
      : notification_(notification), memory_(notification.tid) {}

  const Notification& notification() const { return notification_; }
  pid_t tid() const { return notification_.tid; }
  const ProcessMemory& memory() const { return memory_; }
  // True where the kernel refused the caller's memory: nothing can be done for it.
  bool memory_is_refused() const { return memory_.refused(); }
  // Steps of following names. Those that lead around for longer than any program's are not followed
  // to their end: the supervisor has others to serve. False: no more of them (ELOOP).
  bool spend(uint32_t steps) const {
    steps_ -= std::min(steps, steps_);
    return steps_ > 0;
  }
  bool is_spent() const { return steps_ == 0; }
  void restore_steps() const { steps_ = kMostSteps; }

 private:
  Notification notification_;
  ProcessMemory memory_;
  static constexpr uint32_t kMostSteps = 50'000;
  mutable uint32_t steps_ = kMostSteps;
};

}  // namespace bulkhead
