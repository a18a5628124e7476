// Sentry: a process that keeps a compartment's limits while its supervisor is stopped. Who is
// stopped with it can be continued by a timer, whoever has set that.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/fd.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/limits/limits.h"

namespace bulkhead {

class Sentry {
 public:
  // Posts one where anything is limited. It is a copy of this process, and dies with this thread.
  Sentry(LimitKeeper& limits, const Compartment& compartment);
  ~Sentry() { relieve(); }
  Sentry(const Sentry&) = delete;
  Sentry& operator=(const Sentry&) = delete;

  // False where one was needed and could not be had.
  bool stands() const { return pid_ >= 0; }
  // Ends it. What it saw breached: it has killed the compartment for that, and continued this
  // process. Otherwise the keeper of this process has to look itself; the timer is shared.
  std::optional<LimitBreached> relieve();

 private:
  pid_t pid_ = 0;  // 0: nothing is limited; -1: none
  Fd report_;
};

}  // namespace bulkhead
