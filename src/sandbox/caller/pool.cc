#include "sandbox/caller/pool.h"

#include <chrono>
#include <utility>

#include "sandbox/kernel/interrupt.h"

namespace bulkhead {

namespace {

struct Here {
  std::mutex* mutex = nullptr;
  bool* waiting = nullptr;
  const bool* stopping = nullptr;
};
thread_local Here here;

}  // namespace

Pool::Pool(Workers& workers, Listener& listener, Job job)
    : workers_(workers), listener_(listener), job_(std::move(job)) {
  workers_.join_waiting();
}

Pool::~Pool() {
  stop();
  workers_.leave_waiting();
}

void Pool::submit(const Notification& notification) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(notification);
  start_more();
}

void Pool::start_more() {
  while (!queue_.empty() && workers_.take_waiting(under_way_.size())) {
    const auto self = under_way_.insert(under_way_.end(), UnderWay{queue_.front()});
    queue_.pop_front();
    self->ticket = workers_.submit([this, self] { run(self); });
  }
}

void Pool::run(std::list<UnderWay>::iterator self) {
  std::unique_lock lock(mutex_);
  self->thread = ::pthread_self();
  here = {&mutex_, &self->waiting, &stopping_};
  while (!stopping_) {
    lock.unlock();
    job_(self->notification);
    lock.lock();
    // What waits for a thread has this one, as long as others do not wait for theirs.
    if (queue_.empty() || !workers_.may_keep_waiting(under_way_.size())) break;
    self->notification = queue_.front();
    queue_.pop_front();
  }
  here = {};
  under_way_.erase(self);
  workers_.give_back_waiting();
  ended_.notify_all();
}

void Pool::interrupt_lost() {
  for (const UnderWay& one : under_way_) {
    if (!one.thread) continue;
    // At the end whatever blocks: that a close does not wait (SO_LINGER), say, nobody promises.
    if (stopping_ || (one.waiting && !listener_.still_valid(one.notification)))
      interrupt(*one.thread);
  }
}

// Those that have no thread yet.
void Pool::drop_waiting() {
  for (auto each = under_way_.begin(); each != under_way_.end();) {
    const auto self = each++;
    if (self->thread || !workers_.cancel(self->ticket)) continue;
    under_way_.erase(self);
    workers_.give_back_waiting();
  }
}

void Pool::tick() {
  const std::lock_guard lock(mutex_);
  if (!stopping_) start_more();
  interrupt_lost();
}

void Pool::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  queue_.clear();
  drop_waiting();
  // A signal that arrives just before the system call does not interrupt it: again until all ended.
  while (!under_way_.empty()) {
    interrupt_lost();
    ended_.wait_for(lock, std::chrono::milliseconds(2));
  }
}

bool Pool::idle() const {
  const std::lock_guard lock(mutex_);
  return under_way_.empty() && queue_.empty();
}

Waiting::Waiting() {
  if (here.mutex == nullptr) return;
  const std::lock_guard lock(*here.mutex);
  *here.waiting = true;
}

Waiting::~Waiting() {
  if (here.mutex == nullptr) return;
  const std::lock_guard lock(*here.mutex);
  *here.waiting = false;
}

bool pool_is_stopping() {
  if (here.mutex == nullptr) return false;
  const std::lock_guard lock(*here.mutex);
  return *here.stopping;
}

}  // namespace bulkhead
