// Suspension: a stop of this process, as by Ctrl-Z, that another thread wants than the one which
// watches a compartment. That one stops it, since it can keep the limits meanwhile (Sentry), and
// has passed on what continued it before the other goes on.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/fd.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/limits/limits.h"

namespace bulkhead {

class Suspension {
 public:
  Suspension();

  // Stops the group, which is this process's own. Returns when somebody has continued it; at once
  // where the limits would not be kept, and after end().
  void stop(pid_t group);
  // The compartment ends: nobody watches it any more.
  void end() noexcept;

  // For who watches: readable when a stop is wanted.
  int fd() const { return wanted_fd_.get(); }
  // Stops, where that is wanted still. A breach is told, and leaves the other thread waiting for
  // end().
  std::optional<LimitBreached> serve(const Compartment& compartment, LimitKeeper& limits);

 private:
  Fd wanted_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  pid_t group_ = 0;  // to be stopped; 0: none
  bool ended_ = false;
};

}  // namespace bulkhead
