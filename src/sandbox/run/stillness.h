// Processes that are to keep still for a while, and the way that all of them do.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bulkhead {

// How often a thread left a processor, by its folder in /proc; 0 where it has gone.
uint64_t switches_of(const std::string& folder);

// Processes, parents in an earlier generation than their children.
using Generations = std::vector<std::vector<pid_t>>;

// What a process started, and what that started.
Generations descendants_of(pid_t ancestor);

// Stops processes until its end; those who were running continue then. Nobody but us sees the
// stops: parents have stopped before their children are told, and come back last.
class Stillness {
 public:
  // `who` lists them at this moment.
  explicit Stillness(std::function<Generations()> who) : who_(std::move(who)) {}
  ~Stillness();
  Stillness(const Stillness&) = delete;
  Stillness& operator=(const Stillness&) = delete;

  // Asked all the while, and whether to give up.
  using Cancelled = std::function<bool()>;
  // Returns when nobody can move; false after `patience`, or once `cancelled`.
  bool reach(std::chrono::milliseconds patience, const Cancelled& cancelled);
  bool reach(std::chrono::milliseconds patience, const std::atomic<bool>& cancelled) {
    return reach(patience, [&cancelled] { return cancelled.load(); });
  }
  // Stops who can move, but for `spared`: who was continued from outside, what somebody has just
  // started. True where there was nobody.
  bool holds(pid_t spared) {
    return holds(spared, [] { return false; });
  }

 private:
  bool holds(pid_t spared, const Cancelled& cancelled);
  // Stops those threads of a process that can move; `told` gets their folders in /proc.
  void tell(pid_t pid, std::vector<std::string>& told);
  // Whether a thread of the process has run since the last look, or is new.
  bool has_run(pid_t pid);

  const std::function<Generations()> who_;
  struct Stopped {
    pid_t pid;
    uint64_t start_ticks;  // a number can be somebody else's later
  };
  std::vector<Stopped> stopped_;        // in this order
  std::set<pid_t> told_;                // threads
  std::map<pid_t, uint64_t> switches_;  // of threads: how often a processor was taken from them
};

}  // namespace bulkhead
