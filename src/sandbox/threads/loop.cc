#include "sandbox/threads/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <system_error>

#include "sandbox/kernel/interrupt.h"

namespace bulkhead {

namespace {

constexpr Loop::Key kWake = 0;
constexpr std::chrono::milliseconds kShort{100};

}  // namespace

Result<std::unique_ptr<Loop>> Loop::make() {
  Fd events(::epoll_create1(EPOLL_CLOEXEC)), wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!events || !wake) return errno_error("make an epoll");
  BULKHEAD_TRY(auto workers, Workers::make());
  std::unique_ptr<Loop> self(new Loop(std::move(events), std::move(wake), std::move(workers)));
  BULKHEAD_CHECK(self->watch(kWake, self->wake_.get(), EPOLLIN));
  try {
    const MaskForThreads mask;
    self->thread_ = std::thread([loop = self.get()] { loop->live(); });
  } catch (const std::system_error& error) {
    return errno_error("start the thread that serves compartments", error.code().value());
  }
  if (self->ready_.get_future().get()) return self;
  return Error{"cannot serve a compartment: a thread cannot have a umask of its own"};
}

Loop::Loop(Fd events, Fd wake, std::unique_ptr<Workers> workers)
    : events_(std::move(events)), wake_(std::move(wake)), workers_(std::move(workers)) {}

Loop::~Loop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

Loop::Key Loop::add(Task& task) {
  const std::lock_guard lock(mutex_);
  const Key key = next_++;
  entries_[key].task = &task;
  return key;
}

void Loop::remove(Key key) noexcept {
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.removed = true;
  set_due(key, entry, Task::kNever);
  if (entry.state == Entry::State::kStarves) {
    std::erase(starving_, key);
    entry.state = Entry::State::kWaits;
  }
  std::erase(wanting_, key);
  ended_.wait(lock, [&entry] { return entry.state != Entry::State::kRuns; });
  entries_.erase(key);
}

Status Loop::watch(Key key, int fd, uint32_t events) {
  // Once for each time that it becomes ready, or the loop would turn for as long as it is.
  const bool once = (events & EPOLLONESHOT) != 0 || key == kWake;
  epoll_event event{events | (once ? 0U : static_cast<uint32_t>(EPOLLET)), {.u64 = key}};
  // What the task has done before is seen by the turn.
  const std::lock_guard lock(mutex_);
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return errno_error("watch a descriptor of a compartment");
}

Status Loop::rearm(Key key, int fd, uint32_t events) {
  epoll_event event{events | EPOLLONESHOT, {.u64 = key}};
  const std::lock_guard lock(mutex_);  // what the task has done before is seen by the turn
  if (::epoll_ctl(events_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return {};
  return errno_error("watch a descriptor of a compartment again");
}

void Loop::forget(int fd) noexcept {
  if (fd >= 0) (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void Loop::call(Key key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end()) give_turn(key, found->second);
}

void Loop::want_worker(Key key) {
  const std::lock_guard lock(mutex_);
  entries_.at(key).wants_worker = true;
}

void Loop::call_by(Key key, Task::Clock::time_point when) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.due <= when) return;
  if (found->second.state == Entry::State::kWaits)
    set_due(key, found->second, when);
  else
    found->second.due = when;  // take_turn() sees to it
}

// ---- with the lock ----

void Loop::set_due(Key key, Entry& entry, Task::Clock::time_point due) {
  if (entry.due != Task::kNever) timers_.erase({entry.due, key});
  entry.due = due;
  if (due == Task::kNever) return;
  timers_.emplace(due, key);
  if (due < sleeps_until_) wake();
}

void Loop::give_turn(Key key, Entry& entry) {
  if (entry.removed) return;
  if (entry.state != Entry::State::kWaits) {
    entry.again = true;
    return;
  }
  set_due(key, entry, Task::kNever);
  entry.again = false;
  if (workers_->run([this, key] { take_turn(key, false); })) {
    entry.state = Entry::State::kRuns;
    return;
  }
  entry.state = Entry::State::kStarves;
  starving_.push_back(key);
  wake();
}

// ---- without ----

void Loop::take_turn(Key key, bool briefly) {
  std::unique_lock lock(mutex_);
  Entry& entry = entries_.at(key);  // remove() waits for us
  do {
    entry.again = false;
    entry.due = Task::kNever;
    lock.unlock();
    const auto due = entry.task->turn(briefly);
    lock.lock();
    entry.due = std::min(entry.due, due);
  } while (entry.again && !entry.removed && !briefly);
  entry.state = Entry::State::kWaits;
  if (entry.removed) {
    entry.due = Task::kNever;
    ended_.notify_all();
    return;
  }
  set_due(key, entry, std::exchange(entry.due, Task::kNever));
  if (std::exchange(entry.wants_worker, false) && std::ranges::count(wanting_, key) == 0) {
    wanting_.push_back(key);
    wanted_turns_.submit();
  }
  if (entry.again) give_turn(key, entry);
}

void Loop::wake() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void Loop::take_wanted_turn() {
  Key key = 0;
  {
    const std::lock_guard lock(mutex_);
    if (wanting_.empty()) return;  // it has been removed
    key = wanting_.front();
    wanting_.pop_front();
    Entry& entry = entries_.at(key);
    if (entry.state == Entry::State::kRuns) return void(entry.again = true);
    std::erase(starving_, key);
    set_due(key, entry, Task::kNever);
    entry.state = Entry::State::kRuns;
  }
  take_turn(key, false);
}

// How long there is nothing to do.
int Loop::patience() {
  const std::lock_guard lock(mutex_);
  if (!starving_.empty()) return 0;
  sleeps_until_ = timers_.empty() ? Task::kNever : timers_.begin()->first;
  // Nobody tells when the system has threads again.
  if (workers_->is_short()) sleeps_until_ = std::min(sleeps_until_, Task::Clock::now() + kShort);
  if (sleeps_until_ == Task::kNever) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(sleeps_until_ - Task::Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

// Those for whom there was no thread: we make one. Where none can be made they have ours for a
// moment: who makes threads scarce must not keep others' calls from being decided.
void Loop::feed() {
  size_t rest = 0;
  {
    const std::lock_guard lock(mutex_);
    rest = starving_.size();
  }
  for (; rest > 0; --rest) {
    Key key = 0;
    {
      const std::lock_guard lock(mutex_);
      if (starving_.empty()) return;
      key = starving_.front();
      starving_.pop_front();
      entries_.at(key).state = Entry::State::kRuns;
      if (workers_->run([this, key] { take_turn(key, false); })) continue;
    }
    take_turn(key, true);
  }
}

void Loop::live() {
  const bool own = own_thread_settings();  // as the workers; see feed()
  workers_->become_maker([this] { wake(); });
  ready_.set_value(own);
  if (!own) return;
  (void)workers_->run([] {});  // one is there when the first task comes
  run();
}

void Loop::run() {
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int ready =
        ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), patience());
    {
      const std::lock_guard lock(mutex_);
      sleeps_until_ = Task::Clock::time_point::min();
      if (stopping_) return;
      for (int i = 0; i < ready; ++i) {
        const Key key = events[static_cast<size_t>(i)].data.u64;
        uint64_t count = 0;
        if (key == kWake) (void)!::read(wake_.get(), &count, sizeof count);
        // Of a task that has been removed meanwhile nothing is known.
        const auto found = entries_.find(key);
        if (found != entries_.end()) give_turn(key, found->second);
      }
      const auto now = Task::Clock::now();
      while (!timers_.empty() && timers_.begin()->first <= now) {
        const Key key = timers_.begin()->second;
        give_turn(key, entries_.at(key));
      }
    }
    feed();
    workers_->make_more();
  }
}

}  // namespace bulkhead
