// What the supervisor is to the shell that started it: the program's stand-in. It passes signals
// on, stops when the program stops, and leaves the terminal as it found it.
//
// Supervisor and program are in one process group, so what the terminal sends (Ctrl-C,
// Ctrl-Z, a new size) reaches the program by itself; only what somebody sends to the
// supervisor alone is passed on.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/limits/limits.h"
#include "sandbox/run/terminal_keys.h"

namespace bulkhead {

// True where no process is left in it.
bool is_empty_group(pid_t group);

class JobControl {
 public:
  // Blocks the signals that concern the program in this thread (and in threads made later).
  static Result<JobControl> take(bool job_control);
  // Restores the signal mask, what the terminal's keys mean, and its foreground group if the
  // program's has it.
  ~JobControl();
  JobControl(JobControl&& other) noexcept;
  JobControl& operator=(JobControl&&) = delete;
  JobControl(const JobControl&) = delete;

  // Readable when signals wait.
  int fd() const { return signals_.get(); }
  // Passes on what waits. True where that was to end the program.
  bool pass_on(pid_t program) const;
  // The program has stopped: stops all of the compartment (nobody would serve it) and this process,
  // and continues them when this is continued. Where the compartment does not come to rest, or its
  // limits would not be kept meanwhile, the program is continued instead. A breach is told.
  std::optional<LimitBreached> stop_with(const Compartment& compartment, LimitKeeper& limits) const;

 private:
  JobControl() = default;
  Fd signals_;
  Fd terminal_;
  pid_t foreground_ = -1;
  std::optional<TerminalKeys> keys_;
  bool was_exclusive_ = false;
  bool job_control_ = true;
  bool active_ = false;
  sigset_t old_mask_{};
  struct sigaction old_interrupt_ {};
};

}  // namespace bulkhead
