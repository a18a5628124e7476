#include "sandbox/launch/parent.h"

#include <system_error>

#include "sandbox/kernel/interrupt.h"

namespace bulkhead {

Result<std::unique_ptr<Parent>> Parent::make() {
  std::unique_ptr<Parent> self(new Parent);
  try {
    const MaskForThreads mask;
    self->thread_ = std::thread([parent = self.get()] { parent->live(); });
  } catch (const std::system_error& error) {
    return errno_error("start the thread that compartments are children of", error.code().value());
  }
  return self;
}

Parent::~Parent() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Parent::run(const std::function<void()>& what) {
  Order order{&what};
  std::unique_lock lock(mutex_);
  orders_.push_back(&order);
  changed_.notify_all();
  changed_.wait(lock, [&order] { return order.done; });
}

void Parent::live() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !orders_.empty(); });
    if (orders_.empty()) return;
    Order& order = *orders_.front();
    orders_.pop_front();
    lock.unlock();
    (*order.what)();
    lock.lock();
    order.done = true;
    changed_.notify_all();
  }
}

}  // namespace bulkhead
