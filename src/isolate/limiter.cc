#include "isolate/limiter.h"

#include <chrono>
#include <ctime>

namespace bulkhead {

Limiter::Limiter(std::function<void()> over) : tell_(std::move(over)) {
  ::pthread_getcpuclockid(::pthread_self(), &clock_);
}

uint64_t Limiter::used() const {
  timespec time{};
  ::clock_gettime(clock_, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(time.tv_nsec);
}

void Limiter::start(uint64_t nanoseconds) {
  const std::lock_guard guard(mutex_);
  begun_ = used();
  end_ = begun_ + nanoseconds;
  running_ = true;
  over_ = false;
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
  changed_.notify_one();
}

Limiter::Spent Limiter::finish() {
  const std::lock_guard guard(mutex_);
  running_ = false;
  const Spent spent{.over = over_.load(), .nanoseconds = used() - begun_};
  over_ = false;
  return spent;
}

void Limiter::watch() {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this] { return running_; });
    const uint64_t now = used();
    if (now < end_) {
      changed_.wait_for(guard, std::chrono::nanoseconds(end_ - now));
      continue;
    }
    running_ = false;
    over_ = true;
    // Under the lock: after finish() nobody is ended any more.
    tell_();
  }
}

}  // namespace bulkhead
