// Limiter: the processor time that a guest grants a callee of its own (js/lib/limited.cjs). The
// host's limits are not here: these end what a guest itself wants ended.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace bulkhead {

class Limiter {
 public:
  // Of the thread that makes it; `over` is called on another one.
  explicit Limiter(std::function<void()> over);
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;
  ~Limiter() = delete;  // as long as the process

  // One at a time.
  void start(uint64_t nanoseconds);
  struct Spent {
    bool over = false;
    uint64_t nanoseconds = 0;
  };
  Spent finish();
  bool is_over() const { return over_.load(); }

 private:
  uint64_t used() const;
  void watch();

  const std::function<void()> tell_;
  clockid_t clock_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;  // from the first start() on
  uint64_t begun_ = 0, end_ = 0;
  bool running_ = false;
  std::atomic<bool> over_{false};
};

}  // namespace bulkhead
