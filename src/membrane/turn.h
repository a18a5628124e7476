// Turn: what the host grants a worker until it has the word again: processor time, time, memory.
// First the script is asked to end (Control::terminate); a worker that does not come back after
// 50 ms more of its own, or sleeps for as long instead, is killed. Processor time is what the
// kernel says of the process, so that a loaded machine ends nobody, and never more than has passed,
// so that threads count once.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "membrane/channel.h"

namespace bulkhead {

struct TurnLimits {
  uint64_t processor_ns = 0;  // 0: none
  uint64_t wall_ns = 0;       // 0: ten times processor_ns and a second
  uint64_t resident_bytes = 0;
};

// Has the process a thread that runs, would if it got a processor, or waits for a page of its own?
// Where nobody can tell, yes.
bool is_runnable(pid_t process);

class Turn {
 public:
  enum class End : uint8_t { kMessage, kTimeOver, kMemoryOver, kGone, kAbandoned };

  explicit Turn(SharedChannel& channel) : channel_(channel) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();

  // The process that ends everything when it is killed, and the worker itself, whose time counts.
  bool watch(pid_t keeper, pid_t worker);
  pid_t worker() const { return worker_; }

  void begin(uint32_t number, const TurnLimits& limits);

  // A call in the middle of a turn has limits of its own within it: once they are reached, it alone
  // is asked to end. A worker that does not end it is killed as for the turn.
  void begin_inner(uint32_t number, const TurnLimits& limits);
  void end_inner();
  // Processor time that others used on behalf of this turn, while it waited.
  void add(uint64_t nanoseconds) { others_ += nanoseconds; }
  // Of this turn, or the last one; with what others used.
  uint64_t used();
  // What is left of all its limits.
  struct Left {
    uint64_t processor_ns = UINT64_MAX, wall_ns = UINT64_MAX;
  };
  Left left();

  // What runs is asked to end, as if its time were over. Any thread.
  void stop();

  // Until the worker has sent something, or is no more. Kills it where it must. `is_over`: asked
  // now and then whether anybody waits still; kAbandoned where nobody does.
  End wait(const std::function<bool()>& is_over = {});
  // Makes a wait() of another thread return.
  void abandon();
  void resume() { abandoned_.store(false); }

  void kill();
  bool gone() const;
  // Looks after nobody any more, and holds no descriptor of theirs.
  void forget();
  // Nanoseconds of processor time that the worker has used in all; 0 where nobody can tell.
  uint64_t processor_time() const;

 private:
  End check();
  // Without having slept: is it time to look all the same?
  bool is_due();
  bool pretends(uint64_t now);
  uint64_t charge(uint64_t now);
  uint64_t resident() const;

  SharedChannel& channel_;
  pid_t worker_ = 0;
  int keeper_fd_ = -1, statm_ = -1;
  clockid_t clock_ = 0;
  bool has_clock_ = false;

  // A turn, and the calls in its middle that have limits: each ends where its times end, as charged
  // and as passed since the turn's begin.
  struct Level {
    uint32_t number = 0;
    uint64_t processor_end = UINT64_MAX, wall_end = UINT64_MAX;
    uint64_t soonest() const { return std::min(processor_end, wall_end); }
  };
  static Level level_of(uint32_t number, const TurnLimits& limits, uint64_t used, uint64_t passed);
  // How long to sleep when it ends at `end`, of which `at` has passed.
  uint64_t until(uint64_t end, uint64_t at) const;
  uint64_t next_pause();
  uint64_t processor_end() const {
    uint64_t end = UINT64_MAX;
    for (const Level& level : levels_) end = std::min(end, level.processor_end);
    return end;
  }

  uint64_t resident_bytes_ = 0;
  std::vector<Level> levels_;
  bool running_ = false;
  bool fresh_ =
      false;  // begun and not yet waited for: no clock is read for an answer that comes at once
  uint64_t soonest_ = 0;    // after so long a limit may be reached
  uint64_t next_look_ = 0;  // after so long, whatever may be reached
  uint64_t begun_ = 0, clock_begun_ = 0, unclocked_ = 0, others_ = 0;
  uint64_t asked_ = 0, used_asked_ = 0;
  uint64_t looked_ = 0, asleep_ = 0;  // since it was asked to end
  size_t level_asked_ = 0;
  std::atomic<bool> abandoned_{false}, stopped_{false};
};

}  // namespace bulkhead
