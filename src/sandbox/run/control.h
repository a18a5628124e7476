// Control: what other threads want of the one that watches a compartment. That one does it, between
// two looks, so that nobody else touches what it watches with.
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
struct Controlled {
  LimitKeeper& limits;
  std::atomic<uint32_t>& most_processes;  // Service::most_processes
};

class Control {
 public:
  static Result<std::unique_ptr<Control>> make();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // Any thread, for as long as the compartment lives: has `what` done, and waits for it. ESRCH
  // where the compartment has ended.
  Status ask(const std::function<Status(Controlled&)>& what);

  // For who watches: readable when something is wanted.
  int fd() const { return wanted_.get(); }
  void serve(Controlled controlled);
  // Nobody watches any more.
  void end() noexcept;

 private:
  struct Request {
    const std::function<Status(Controlled&)>* what;
    std::optional<Status> answer;
  };
  explicit Control(Fd wanted) : wanted_(std::move(wanted)) {}

  const Fd wanted_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<Request*> requests_;
  bool ended_ = false;
};

}  // namespace bulkhead
