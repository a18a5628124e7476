// Pool: a compartment's calls that wait: for a person, a FIFO's other end, a connection. The thread
// that serves its other calls never does.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>

#include "sandbox/kernel/notification.h"
#include "sandbox/kernel/pending_signal.h"
#include "sandbox/threads/workers.h"

namespace bulkhead {

class Pool {
 public:
  using Job = std::function<void(const Notification&)>;

  // `job` runs on a thread of the workers, for each submitted notification.
  Pool(Workers& workers, Listener& listener, Job job);
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Never blocks. Every notification has a thread of its own, since what one waits for may be
  // another; beyond this compartment's share of them, or where the system gives no more, it waits
  // for one. Programs with more calls waiting than that see some of them wait longer, and only
  // those that wait for one of the latter without end.
  void submit(const Notification& notification);
  // Interrupts system calls whose caller is gone, or has a signal to handle (see Waiting). Call
  // about every 100 ms.
  void tick();
  // Jobs under way are interrupted until they end, in a Waiting or not; waiting ones are dropped.
  void stop();
  bool idle() const;

 private:
  friend class Waiting;
  struct UnderWay {
    Notification notification;
    pthread_t thread;
    bool waiting = false;  // inside a Waiting
    SignalWatch signals = {};
  };
  void run();
  void interrupt_lost();
  void interrupt_signalled();

  Listener& listener_;
  const Job job_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<Notification> queue_;
  std::list<UnderWay> under_way_;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point looked_ = {};  // at signals
  Workers::Owner owner_;                               // last: its jobs use all else
};

// While one lives on a thread of a pool, blocking system calls there fail with EINTR once their
// caller is gone or has a signal to handle, or the pool stops. What then is to be answered, if
// anything, interrupted() says (calls/common.h).
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
