// Pool: threads for calls that wait: for a person, a FIFO's other end, a connection. The serving
// thread never does.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "sandbox/kernel/notification.h"

namespace bulkhead {

// Does nothing, but interrupts a blocking system call of the thread that gets it.
inline constexpr int kInterruptSignal = SIGURG;

class Pool {
 public:
  using Job = std::function<void(const Notification&)>;
  // Each costs some 25 KB, and holds descriptors while it waits. Programs with more calls waiting
  // than this see some of them wait longer, and only those that wait for one of the latter without
  // end.
  static constexpr size_t kMostThreads = 4096;
  // As many of them as `descriptors` (RLIMIT_NOFILE) suffice for, with enough left for all else
  // that the supervisor opens: without any it would not see what the program uses.
  static size_t most_threads(uint64_t descriptors) noexcept;

  // `job` runs on a thread of the pool, for each submitted notification.
  Pool(Listener& listener, Job job);
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Never blocks. Every notification has a thread of its own, since what one waits for may be
  // another; beyond most_threads(), or where the system gives no more, it waits for one.
  void submit(const Notification& notification);
  // Interrupts system calls whose caller is gone (see Waiting), and starts threads that could not
  // be had before. Call about every 100 ms.
  void tick();
  // Jobs under way are interrupted until they end, in a Waiting or not; waiting ones are dropped.
  void stop();
  bool idle() const;

 private:
  friend class Waiting;
  struct Worker {
    std::thread thread;
    Notification notification;  // under way
    bool waiting = false;       // inside a Waiting
    bool busy = false;
    bool ended = false;
  };
  void run(Worker& self);
  void grow();  // until every notification in the queue has a thread, if they can be had

  Listener& listener_;
  Job job_;
  const size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Notification> queue_;
  std::list<Worker> workers_;
  size_t idle_ = 0;   // of them, those that are there for the queue
  size_t ended_ = 0;  // of them, those to be joined
  bool stopping_ = false;
};

// While one lives on a thread of a pool, blocking system calls there fail with EINTR once their
// caller is gone or the pool stops. The caller checks still_valid() and tries again.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

// True on a thread of a pool that stops: give up.
bool pool_is_stopping();

}  // namespace bulkhead
