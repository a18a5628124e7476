// Loop: one thread that waits for what many tasks wait for, and has each of them served by a thread
// of the workers when something is there. A task that only waits costs no thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/threads/workers.h"

namespace bulkhead {

class Task {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  virtual ~Task() = default;
  // One turn at a time. Looks at all that it waits for, and does what there is: an event is told
  // once. Returns when the next turn is due although nothing happens.
  // `briefly`: no thread can be had, so the loop's own does it, for which others wait.
  virtual Clock::time_point turn(bool briefly) = 0;
};

// Thread-safe.
class Loop {
 public:
  using Key = uint64_t;  // of a task; 0: none

  static Result<std::unique_ptr<Loop>> make();
  ~Loop();  // without tasks
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Key add(Task& task);
  // Waits for a turn that is under way, which is not the caller's own. None follows.
  void remove(Key key) noexcept;

  // The task has a turn when the descriptor is ready by `events` (epoll(7)): each time anew, or
  // with EPOLLONESHOT once.
  Status watch(Key key, int fd, uint32_t events);
  // What is watched with EPOLLONESHOT, once more. Takes nothing of the kernel's: of watches a user
  // has so many (fs.epoll.max_user_watches), and another of that user's programs may have them all.
  Status rearm(Key key, int fd, uint32_t events);
  void forget(int fd) noexcept;
  // The task has a turn: at once, or after the one that is under way.
  void call(Key key);
  // In a turn: another follows by one of the workers, as soon as one is free, and not `briefly`.
  void want_worker(Key key);
  // A turn at that time at the latest.
  void call_by(Key key, Task::Clock::time_point when);

  Workers& workers() { return *workers_; }

 private:
  struct Entry {
    Task* task = nullptr;
    enum class State : uint8_t { kWaits, kStarves, kRuns } state = State::kWaits;
    bool again = false, removed = false;
    bool wants_worker = false;                   // in wanting_ after its turn
    Task::Clock::time_point due = Task::kNever;  // in timers_ while it waits
  };
  using Timer = std::pair<Task::Clock::time_point, Key>;

  Loop(Fd events, Fd wake, std::unique_ptr<Workers> workers);
  void live();
  void run();
  int patience();  // milliseconds
  void wake();
  void set_due(Key key, Entry& entry, Task::Clock::time_point due);
  void give_turn(Key key, Entry& entry);
  void take_turn(Key key, bool briefly);
  void take_wanted_turn();
  void feed();

  const Fd events_, wake_;
  const std::unique_ptr<Workers> workers_;
  std::mutex mutex_;
  std::condition_variable ended_;  // of a turn, of a task that is removed
  std::unordered_map<Key, Entry> entries_;
  std::set<Timer> timers_;
  std::deque<Key> starving_;  // ready, without a thread
  std::deque<Key> wanting_;   // one of the workers
  Workers::Owner wanted_turns_{*workers_, [this] { take_wanted_turn(); }, false};
  Key next_ = 1;
  Task::Clock::time_point sleeps_until_ = Task::Clock::time_point::min();
  bool stopping_ = false;
  std::promise<bool> ready_;
  std::thread thread_;  // last: it uses all else
};

}  // namespace bulkhead
