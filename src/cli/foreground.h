// The process group in a terminal's foreground, as a question needs it: known, and still.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace bulkhead {

// True where the group is ours or one that a program of ours made. Where it is somebody else's,
// this run is in the background, and asking would disturb them.
bool is_ours(pid_t group);

// True where a shell is there that sees our group stop and can continue it; the kernel stops no
// orphaned group by Ctrl-Z either (termios(3), credentials(7)).
bool is_under_job_control();

// Keeps the job still: the program's processes wherever they have gone, and whoever else is in our
// group or in the terminal's foreground (`| tee log`), with what they started. None of them can
// read an answer, write over a question or change the terminal; the kernel's own way (SIGTTIN,
// SIGTTOU) does not stop who ignores these signals, who has left the session, or an orphaned group.
// Left running: who started us, whom a shell would take for a job that its user has stopped, and
// other supervisors, which have a program and its limits to watch.
// Those who were running continue with its end. Nobody but us sees the stops: parents have stopped
// before their children are told, and come back last.
class Stillness {
 public:
  explicit Stillness(pid_t foreground) : foreground_(foreground) {}
  ~Stillness();
  Stillness(const Stillness&) = delete;
  Stillness& operator=(const Stillness&) = delete;

  // Returns when nobody can move; false after `patience`, or when `cancelled`.
  bool reach(std::chrono::milliseconds patience, const std::atomic<bool>& cancelled);
  // Stops who can move, but for the child of ours that asks: who was continued from outside, what
  // another supervisor has just started. True where there was nobody.
  bool holds(pid_t asks);

 private:
  // Stops those threads of a process that can move; `told` gets their folders in /proc.
  void tell(pid_t pid, std::vector<std::string>& told);

  const pid_t foreground_;
  std::vector<pid_t> stopped_;  // in this order
  std::set<pid_t> told_;        // threads
};

// True where a SIGINT waits for this process to unblock it.
bool interrupt_pending(pid_t pid);

}  // namespace bulkhead
