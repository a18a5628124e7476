#include "sandbox/caller/pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sandbox/kernel/interrupt.h"

namespace bulkhead {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr size_t kMostLookedAt = 64;  // signals: the turn that this is part of keeps limits, too

struct Here {
  std::mutex* mutex = nullptr;
  bool* waiting = nullptr;
  const bool* stopping = nullptr;
};
thread_local Here here;

}  // namespace

Pool::Pool(Workers& workers, Listener& listener, Job job)
    : listener_(listener), job_(std::move(job)), owner_(workers, [this] { run(); }) {}

void Pool::submit(const Notification& notification) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(notification);
  owner_.submit();
}

void Pool::run() {
  std::unique_lock lock(mutex_);
  if (queue_.empty()) return;  // dropped
  const auto self = under_way_.insert(under_way_.end(), UnderWay{queue_.front(), ::pthread_self()});
  queue_.pop_front();
  here = {&mutex_, &self->waiting, &stopping_};
  lock.unlock();
  job_(self->notification);
  lock.lock();
  here = {};
  under_way_.erase(self);
  ended_.notify_all();
}

void Pool::interrupt_lost() {
  for (const UnderWay& one : under_way_)
    // At the end whatever blocks: that a close does not wait (SO_LINGER), say, nobody promises.
    if (stopping_ || (one.waiting && !listener_.still_valid(one.notification)))
      interrupt(one.thread);
}

// Some at a time, in turn.
void Pool::interrupt_signalled() {
  const auto now = std::chrono::steady_clock::now();
  if (under_way_.empty() || now - looked_ < kBetweenLooks) return;
  looked_ = now;
  for (size_t left = std::min(under_way_.size(), kMostLookedAt); left > 0; --left) {
    UnderWay& one = under_way_.front();
    if (one.waiting && one.signals.look(one.notification.tid) != PendingSignal::kNone)
      interrupt(one.thread);
    under_way_.splice(under_way_.end(), under_way_, under_way_.begin());
  }
}

void Pool::tick() {
  const std::lock_guard lock(mutex_);
  interrupt_lost();
  interrupt_signalled();
}

void Pool::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  queue_.clear();
  owner_.drop();
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
