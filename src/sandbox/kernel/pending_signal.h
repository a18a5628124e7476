// Signals that a thread has to handle. A call that was received is interrupted by none but SIGKILL
// (WAIT_KILLABLE_RECV), so whoever serves one that takes its time looks for them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace bulkhead {

// kOwn: the thread handles it as soon as its call returns. kShared: it is the process's, and
// another thread may do so.
enum class PendingSignal : uint8_t { kNone, kOwn, kShared };

PendingSignal pending_signal(pid_t thread);
// By the text of /proc/TID/status.
PendingSignal pending_signal_in(std::string_view status);

// Looks at one thread, again and again. What another thread is about to handle is gone by the
// second look.
class SignalWatch {
 public:
  PendingSignal look(pid_t thread);

 private:
  bool shared_before_ = false;
};

}  // namespace bulkhead
