// Signals: what somebody sends to the supervisor and means for the program, which is in a session
// of its own.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// The value of a signal (sigqueue(3)) that is meant for all of the program's process group: who
// stands at a terminal for us got it from there.
inline constexpr int kToJob = 1;

class Signals {
 public:
  // Blocks the signals that concern the program in this thread (and in threads made later).
  static Result<Signals> take();
  // Restores the signal mask.
  ~Signals();
  Signals(Signals&& other) noexcept;
  Signals& operator=(Signals&&) = delete;
  Signals(const Signals&) = delete;

  // Readable when signals wait.
  int fd() const { return signals_.get(); }
  // Passes on what waits. True where that was to end the program.
  bool pass_on(pid_t program) const;

 private:
  Signals() = default;
  Fd signals_;
  bool active_ = false;
  sigset_t old_mask_{};
  struct sigaction old_interrupt_ {};
};

}  // namespace bulkhead
