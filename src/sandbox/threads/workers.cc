#include "sandbox/threads/workers.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "sandbox/kernel/interrupt.h"

namespace bulkhead {

namespace {

constexpr auto kIdle = std::chrono::seconds(2);  // an unused thread ends after this

uint64_t own_descriptors() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

bool own_thread_settings() { return ::unshare(CLONE_FS) == 0; }

size_t Workers::most_waiting(uint64_t descriptors) noexcept {
  // A rename holds both folders, and waits for its turn; others less. The rest is for questions to
  // name servers (resolver.cc), the folders of a tree that is looked through (symlinks.cc), /proc.
  constexpr uint64_t kEach = 4;
  constexpr uint64_t kRest = 600;
  return std::clamp<uint64_t>((std::max(descriptors, kRest) - kRest) / kEach, kAssured,
                              kMostWaiting);
}

Result<std::unique_ptr<Workers>> Workers::make() {
  BULKHEAD_CHECK(take_interrupt());
  return std::unique_ptr<Workers>(new Workers);
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    wake_.notify_all();
  }
  for (;;) {
    std::list<std::thread> ended;
    bool all = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !ended_.empty() || threads_.empty(); });
      ended.swap(ended_);
      all = threads_.empty();
    }
    for (std::thread& thread : ended) thread.join();
    if (all) return;
  }
}

void Workers::become_maker(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  maker_ = std::this_thread::get_id();
  wake_maker_ = std::move(wake);
}

void Workers::make_more() {
  const std::lock_guard lock(mutex_);
  while (queue_.size() > idle_ && start_thread(queue_.front().job)) queue_.pop_front();
}

bool Workers::is_short() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() > idle_;
}

bool Workers::run(Job job) {
  const std::lock_guard lock(mutex_);
  if (idle_ > queue_.size()) {
    queue_.push_back({next_++, std::move(job)});
    wake_.notify_one();
    return true;
  }
  return maker_ == std::this_thread::get_id() && start_thread(job);
}

Workers::Ticket Workers::submit(Job job) {
  const std::lock_guard lock(mutex_);
  const Ticket ticket = next_++;
  if (idle_ <= queue_.size() && maker_ == std::this_thread::get_id() && start_thread(job))
    return ticket;
  queue_.push_back({ticket, std::move(job)});
  if (queue_.size() <= idle_)
    wake_.notify_one();
  else if (wake_maker_)
    wake_maker_();
  return ticket;
}

bool Workers::cancel(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(queue_, [ticket](const auto& one) { return one.ticket == ticket; }) != 0;
}

// With the lock. The job is taken only where there is a thread.
bool Workers::start_thread(Job& job) {
  threads_.emplace_back();
  const auto self = std::prev(threads_.end());
  // Owned here until the thread is there: what a constructor that throws has taken is lost.
  auto mine = std::make_shared<Job>(std::move(job));
  try {
    const MaskForThreads mask;
    *self = std::thread([this, self, mine] {
      work(std::move(*mine));
      end(self);
    });
  } catch (const std::system_error&) {
    threads_.erase(self);
    job = std::move(*mine);
    return false;
  }
  return true;
}

void Workers::work(Job job) {
  // It can be had, or there would be no loop: what is short is memory.
  while (!own_thread_settings()) ::usleep(1000);
  const mode_t usual = ::umask(0);
  for (;;) {
    ::umask(usual);  // whatever a host's judge has left there
    job();
    job = nullptr;
    std::unique_lock lock(mutex_);
    ++idle_;
    while (queue_.empty() && !ending_ &&
           wake_.wait_for(lock, kIdle) == std::cv_status::no_timeout) {
    }
    --idle_;
    if (queue_.empty()) return;
    job = std::move(queue_.front().job);
    queue_.pop_front();
  }
}

// Joins those that have ended before, so that one at the most has still to be joined.
void Workers::end(std::list<std::thread>::iterator self) {
  std::list<std::thread> before;
  {
    const std::lock_guard lock(mutex_);
    before.swap(ended_);
    ended_.splice(ended_.end(), threads_, self);
    if (ending_) wake_.notify_all();
  }
  for (std::thread& thread : before) thread.join();
}

void Workers::join_waiting() {
  const std::lock_guard lock(mutex_);
  ++sharers_;
}

void Workers::leave_waiting() {
  const std::lock_guard lock(mutex_);
  --sharers_;
}

// `all` have a thread of those that wait, `mine` of them belong to who asks for one more.
bool Workers::has_share(size_t mine, size_t all) const {
  const size_t most = most_waiting(own_descriptors());
  const size_t left = most - std::min(all, most);
  return mine < kAssured || (left > 0 && (sharers_ <= 1 || mine < left));
}

bool Workers::take_waiting(size_t mine) {
  const std::lock_guard lock(mutex_);
  if (!has_share(mine, waiting_)) return false;
  ++waiting_;
  return true;
}

bool Workers::may_keep_waiting(size_t mine) {
  const std::lock_guard lock(mutex_);
  return has_share(mine - 1, waiting_ - 1);
}

void Workers::give_back_waiting() {
  const std::lock_guard lock(mutex_);
  --waiting_;
}

}  // namespace bulkhead
