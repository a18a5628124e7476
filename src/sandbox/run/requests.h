// Requests: what other threads want of the one that watches a compartment. That one does it,
// between two looks, so that nobody else touches what it watches with.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/limits/limits.h"

namespace bulkhead {

// What the watching thread has.
struct Watched {
  LimitKeeper& limits;
  std::atomic<uint32_t>& most_processes;  // Service::most_processes
};

class Requests {
 public:
  static Result<std::unique_ptr<Requests>> make();
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // Any thread, for as long as the compartment lives: has `what` done, and waits for it. ESRCH
  // where the compartment has ended.
  Status ask(const std::function<Status(Watched&)>& what);

  // For who watches: readable when something is wanted.
  int fd() const { return wanted_.get(); }
  void serve(Watched watched);
  // Nobody watches any more.
  void end() noexcept;

 private:
  struct Request {
    const std::function<Status(Watched&)>* what;
    std::optional<Status> answer;
  };
  explicit Requests(Fd wanted) : wanted_(std::move(wanted)) {}

  const Fd wanted_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<Request*> requests_;
  bool ended_ = false;
};

}  // namespace bulkhead
