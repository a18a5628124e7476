// Requests: what other threads want of the turns in which a compartment is watched. One of these
// does it, so that nobody else touches what they watch with.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "sandbox/limits/limits.h"

namespace bulkhead {

// What a turn has.
struct Watched {
  LimitKeeper& limits;
  std::atomic<uint32_t>& most_processes;  // Service::most_processes
};

class Requests {
 public:
  // `call` has a turn come.
  explicit Requests(std::function<void()> call) : call_(std::move(call)) {}
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // Any thread: has `what` done, and waits for it. ESRCH where the compartment has ended.
  Status ask(const std::function<Status(Watched&)>& what);

  // In a turn.
  void serve(Watched watched);
  // No turn comes any more.
  void end() noexcept;

 private:
  struct Request {
    const std::function<Status(Watched&)>* what;
    std::optional<Status> answer;
  };

  const std::function<void()> call_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<Request*> requests_;
  bool ended_ = false;
};

}  // namespace bulkhead
