// Parent: a thread whose children compartments' first processes are. They end with the thread that
// made them (PR_SET_PDEATHSIG in prctl(2)), and of a host's threads nobody knows how long they
// live.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace bulkhead {

class Parent {
 public:
  static Result<std::unique_ptr<Parent>> make();
  ~Parent();  // after all of its children
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;

  // Any thread: has `what` done by this one, and waits for that.
  void run(const std::function<void()>& what);

 private:
  struct Order {
    const std::function<void()>* what;
    bool done = false;
  };
  Parent() = default;
  void live();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order*> orders_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace bulkhead
