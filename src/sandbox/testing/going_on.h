// For tests: stands in for the supervisor of a compartment and lets every call go on.
#pragma once

#include <poll.h>

#include <atomic>
#include <thread>

#include "sandbox/kernel/notification.h"

namespace bulkhead::testing {

class GoingOn {
 public:
  explicit GoingOn(Listener& listener) : listener_(listener), thread_([this] { serve(); }) {}
  ~GoingOn() {
    done_ = true;
    thread_.join();
  }
  GoingOn(const GoingOn&) = delete;
  GoingOn& operator=(const GoingOn&) = delete;

 private:
  void serve() {
    while (!done_) {
      pollfd ready{listener_.fd(), POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      if ((ready.revents & POLLIN) == 0) return;
      if (const auto call = listener_.receive(); call.ok() && *call)
        (void)listener_.send(**call, Reply::go_on());
    }
  }
  Listener& listener_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace bulkhead::testing
