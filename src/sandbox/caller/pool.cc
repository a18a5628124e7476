#include "sandbox/caller/pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <system_error>

#include "sandbox/caller/identity.h"

namespace bulkhead {

namespace {

struct Here {
  Pool* pool = nullptr;
  void* worker = nullptr;
  std::mutex* mutex = nullptr;
  bool* waiting = nullptr;
  const bool* stopping = nullptr;
};
thread_local Here here;

constexpr auto kIdle = std::chrono::seconds(2);  // an unused thread ends after this

uint64_t own_descriptors() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

size_t Pool::most_threads(uint64_t descriptors) noexcept {
  // A rename holds both folders, and waits for its turn; others less. The rest is for questions to
  // name servers (resolver.cc), the folders of a tree that is looked through (symlinks.cc), /proc.
  constexpr uint64_t kEach = 4;
  constexpr uint64_t kRest = 600;
  return std::clamp<uint64_t>((std::max(descriptors, kRest) - kRest) / kEach, 16, kMostThreads);
}

Pool::Pool(Listener& listener, Job job)
    : listener_(listener), job_(std::move(job)), most_(most_threads(own_descriptors())) {}

void Pool::submit(const Notification& notification) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(notification);
  grow();
  wake_.notify_one();
}

void Pool::grow() {
  if (ended_ > 0)
    workers_.remove_if([](Worker& worker) {
      if (!worker.ended) return false;
      worker.thread.join();
      return true;
    });
  ended_ = 0;
  while (idle_ < queue_.size() && workers_.size() < most_) {
    Worker& worker = workers_.emplace_back();
    try {
      worker.thread = std::thread([this, &worker] { run(worker); });
    } catch (const std::system_error&) {
      workers_.pop_back();
      return;
    }
    ++idle_;
  }
}

void Pool::run(Worker& self) {
  own_thread_settings();
  std::unique_lock lock(mutex_);
  here = {this, &self, &mutex_, &self.waiting, &stopping_};
  while (!stopping_) {
    if (queue_.empty() && wake_.wait_for(lock, kIdle) == std::cv_status::timeout && queue_.empty())
      break;
    if (stopping_ || queue_.empty()) continue;
    self.notification = queue_.front();
    queue_.pop_front();
    self.busy = true;
    --idle_;
    lock.unlock();
    job_(self.notification);
    lock.lock();
    self.busy = false;
    ++idle_;
  }
  here = {};
  self.ended = true;
  --idle_;
  ++ended_;
}

void Pool::tick() {
  const std::lock_guard lock(mutex_);
  if (!stopping_) grow();
  for (Worker& worker : workers_) {
    if (!worker.busy) continue;
    // At the end whatever blocks: that a close does not wait (SO_LINGER), say, nobody promises.
    if (stopping_ || (worker.waiting && !listener_.still_valid(worker.notification)))
      pthread_kill(worker.thread.native_handle(), kInterruptSignal);
  }
}

void Pool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
    wake_.notify_all();
  }
  // A signal that arrives just before the system call does not interrupt it: again until all ended.
  for (;;) {
    tick();
    {
      std::unique_lock lock(mutex_);
      bool all = true;
      for (const Worker& worker : workers_) all = all && worker.ended;
      if (all) break;
      wake_.wait_for(lock, std::chrono::milliseconds(2));
      wake_.notify_all();
    }
  }
  for (Worker& worker : workers_)
    if (worker.thread.joinable()) worker.thread.join();
  workers_.clear();
}

bool Pool::idle() const {
  const std::lock_guard lock(mutex_);
  for (const Worker& worker : workers_)
    if (worker.busy) return false;
  return queue_.empty();
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
