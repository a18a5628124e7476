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
  start_threads();
}

bool Workers::is_short() {
  const std::lock_guard lock(mutex_);
  if (!lacks()) refused_ = false;
  return lacks();
}

bool Workers::run(Job job) {
  const std::lock_guard lock(mutex_);
  const bool spare = promised(idle_) < idle_;
  if (!spare && (maker_ != std::this_thread::get_id() || !start_thread())) return false;
  turns_.push_back(std::move(job));
  wake_.notify_one();
  return true;
}

// ---- owners ----

Workers::Owner::Owner(Workers& workers, Job job, bool shares)
    : workers_(workers), job_(std::move(job)), shares_(shares) {
  const std::lock_guard lock(workers_.mutex_);
  if (shares_) ++workers_.owners_;
}

Workers::Owner::~Owner() {
  drop();
  std::unique_lock lock(workers_.mutex_);
  workers_.finished_.wait(lock, [this] { return under_way_ == 0; });
  if (shares_) --workers_.owners_;
  workers_.rouse();  // there is more for the others
}

void Workers::Owner::submit() {
  const std::lock_guard lock(workers_.mutex_);
  workers_.most_ = most_waiting(own_descriptors());
  if (queued_++ == 0) workers_.lined_up_.push_back(this);
  workers_.rouse();
}

void Workers::Owner::drop() {
  const std::lock_guard lock(workers_.mutex_);
  if (std::exchange(queued_, 0) != 0) std::erase(workers_.lined_up_, this);
}

// ---- with the lock ----

// Idle threads that are there for owners without a job under way.
size_t Workers::kept() const { return owners_ > 1 && under_way_ > 0 ? kKept : 0; }

// `all` jobs are under way, `mine` of them belong to who asks for one more.
bool Workers::has_share(size_t mine, size_t all) const {
  const size_t left = most_ - std::min(all, most_);
  return mine < kAssured || (left > 0 && (owners_ <= 1 || mine < left));
}

// Whose job an idle thread is for.
Workers::Owner* Workers::next() const {
  for (Owner* const owner : lined_up_) {
    const size_t mine = owner->under_way_;
    if ((mine == 0 || idle_ > kept()) && has_share(mine, under_way_)) return owner;
  }
  return nullptr;
}

// What an idle thread does next, which is idle no more; empty: nothing.
Workers::Job Workers::take() {
  Job job;
  if (!turns_.empty()) {
    job = std::move(turns_.front());
    turns_.pop_front();
  } else if (Owner* const owner = next(); owner != nullptr) {
    std::erase(lined_up_, owner);
    if (--owner->queued_ > 0) lined_up_.push_back(owner);
    ++owner->under_way_;
    if (owner->shares_) ++under_way_;
    job = [this, owner] {
      owner->job_();
      finish(*owner);
    };
  } else {
    return job;
  }
  --idle_;
  rouse();
  return job;
}

// Another thread for what is left.
void Workers::rouse() {
  if (idle_ > 0 && (!turns_.empty() || next() != nullptr)) wake_.notify_one();
  if (refused_ || !lacks()) return;
  if (maker_ == std::this_thread::get_id())
    start_threads();
  else if (wake_maker_)
    wake_maker_();
}

// How many threads are to be idle, for those that wait and to be kept; counts to `enough`.
size_t Workers::promised(size_t enough) const {
  size_t count = turns_.size() + kept();
  size_t all = under_way_;
  for (const Owner* const owner : lined_up_)
    for (size_t i = 0; i < owner->queued_ && count < enough; ++i, ++count, ++all)
      if (!has_share(owner->under_way_ + i, all)) break;
  return count;
}

void Workers::start_threads() {
  while (lacks() && start_thread()) {
  }
}

// It is idle at first.
bool Workers::start_thread() {
  threads_.emplace_back();
  const auto self = std::prev(threads_.end());
  try {
    const MaskForThreads mask;
    *self = std::thread([this, self] {
      work();
      end(self);
    });
  } catch (const std::system_error&) {
    threads_.erase(self);
    refused_ = true;
    return false;
  }
  refused_ = false;
  ++idle_;
  return true;
}

// ---- a thread ----

void Workers::work() {
  // It can be had, or there would be no loop: what is short is memory.
  while (!own_thread_settings()) ::usleep(1000);
  const mode_t usual = ::umask(0);
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      bool stays = !ending_;
      while (!(job = take()) && stays) {
        const bool unused = wake_.wait_for(lock, kIdle) == std::cv_status::timeout;
        stays = !ending_ && (!unused || idle_ <= kept());
      }
      if (!job) return void(--idle_);
    }
    ::umask(usual);  // whatever a host's judge has left there
    job();
    job = nullptr;
    const std::lock_guard lock(mutex_);
    ++idle_;
  }
}

void Workers::finish(Owner& owner) {
  const std::lock_guard lock(mutex_);
  --owner.under_way_;
  if (owner.shares_) --under_way_;
  finished_.notify_all();
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

}  // namespace bulkhead
