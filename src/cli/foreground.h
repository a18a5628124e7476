// The process group in a terminal's foreground, as a question needs it: known, and still.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <vector>

namespace bulkhead {

// True where the group is ours or one that a program of ours made. Where it is somebody else's,
// this run is in the background, and asking would disturb them.
bool is_ours(pid_t group);

// Stops the group by SIGTTIN and returns when no thread of it can take a line from the terminal any
// more: each has been stopped, or has seen the signal. A thread that waits in read(2)
// has passed the kernel's check for the foreground, and takes a line that comes before it runs
// again. Gives up after `patience`, or when `cancelled`. Where the group is orphaned, the kernel
// stops nobody, and a read(2) from now on fails (termios(3), "Job control").
// Does nothing to those who ignore, block or handle SIGTTIN: such a reader may take the answer,
// which then is none.
void stop_readers(pid_t group, std::chrono::milliseconds patience,
                  const std::atomic<bool>& cancelled);

// Keeps every process of our program still: the kernel lets one write on the terminal that ignores
// SIGTTOU, or has left the session and kept a descriptor. What was running continues with its end.
class Stillness {
 public:
  // Gives up after `patience`, or when `cancelled`.
  Stillness(std::chrono::milliseconds patience, const std::atomic<bool>& cancelled);
  ~Stillness();
  Stillness(const Stillness&) = delete;
  Stillness& operator=(const Stillness&) = delete;

 private:
  std::vector<pid_t> stopped_;
};

// True where a SIGINT waits for this process to unblock it.
bool interrupt_pending(pid_t pid);

}  // namespace bulkhead
