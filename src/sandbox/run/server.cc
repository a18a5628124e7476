#include "sandbox/run/server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "sandbox/caller/identity.h"
#include "sandbox/caller/walker.h"
#include "sandbox/kernel/interrupt.h"
#include "sandbox/kernel/processes.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {

namespace {

constexpr std::string_view kMemoryIsRefused =
    "the kernel lets nobody look into its caller, whose program, or that program's interpreter, "
    "this user may execute and not read";

// What the kernel has counted as written by this thread; UINT64_MAX where it does not tell.
uint64_t own_written() {
  thread_local Fd count;
  // Again where there was no descriptor left.
  if (!count) count.reset(::open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC));
  uint64_t bytes = 0;
  return ProcReader::written_bytes(count, &bytes) ? bytes : UINT64_MAX;
}

}  // namespace

Server::Server(Service& service, Loop& loop, Loop::Key watcher)
    : service_(service),
      loop_(loop),
      watcher_(watcher),
      pool_(loop.workers(), service.listener,
            [this](const Notification& notification) { serve(notification, true); }) {}

Status Server::start(std::optional<Notification> first) {
  first_ = first;
  key_ = loop_.add(*this);
  // Watched until stop(), of nothing at first where a turn comes anyway.
  uint32_t events = EPOLLONESHOT;
  if (!first) events |= EPOLLIN;
  BULKHEAD_CHECK(loop_.watch(key_, service_.listener.fd(), events));
  if (first) loop_.call(key_);
  return {};
}

void Server::stop() {
  stopping_.store(true);
  {
    // A signal that comes just before the thread sleeps does not wake it: again.
    std::unique_lock lock(mutex_);
    while (thread_) {
      interrupt(*thread_);
      served_.wait_for(lock, std::chrono::milliseconds(1));
    }
  }
  if (key_ != 0) loop_.remove(key_);
  loop_.forget(service_.listener.fd());
  pool_.stop();
}

std::string Server::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Server::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why;
  ended_.store(true);
}

bool Server::busy() const {
  const std::lock_guard lock(mutex_);
  return thread_ || !pool_.idle();
}

void Server::tick() {
  pool_.tick();
  service_.processes.forget_dead();
  const auto now = Clock::now();
  if (now - looked_ < kTick) return;
  looked_ = now;
  const uint64_t before = std::exchange(seen_, notifications());
  const std::lock_guard lock(mutex_);
  if (!thread_ || !receiving_.load() || seen_ != before) return;
  // One that begins to serve at this very moment is interrupted in that: nothing that it does
  // waits.
  rests_.store(true);
  interrupt(*thread_);
}

// The next call gives us a turn.
Status Server::wait_for_calls() { return loop_.rearm(key_, service_.listener.fd(), EPOLLIN); }

Task::Clock::time_point Server::turn(bool briefly) {
  if (stopping_.load() || ended_.load()) return kNever;
  {
    const std::lock_guard lock(mutex_);
    thread_ = ::pthread_self();
  }
  loop_.call_by(watcher_, Clock::now() + kTick);  // which sees that we are busy
  serve_calls(briefly);
  if (!briefly) rest();
  {
    const std::lock_guard lock(mutex_);
    thread_.reset();
    served_.notify_all();
  }
  if (!stopping_.load() && !ended_.load())
    if (const Status status = wait_for_calls(); !status.ok()) fail(status.error().message);
  if (ended_.load()) loop_.call(watcher_);
  return kNever;
}

// What is kept for calls that follow soon holds for no longer than a second.
void Server::rest() {
  settled_.reset();
  service_.walker.rest();
}

void Server::serve_calls(bool briefly) {
  constexpr int kBriefly = 32;
  if (first_) {
    notifications_.fetch_add(1, std::memory_order_relaxed);
    serve(*std::exchange(first_, std::nullopt), false);
  }
  if (look() == Calls::kNoMore) return ended_.store(true);
  for (int i = 0; !stopping_.load(std::memory_order_relaxed) && !(briefly && i == kBriefly); ++i) {
    if (briefly && look() == Calls::kNone) return;
    if (serve_next()) continue;
    // Interrupted, or that caller died, or all of them did.
    const Calls calls = look();
    if (calls == Calls::kNoMore) ended_.store(true);
    if (ended_.load() || (rests_.exchange(false) && calls == Calls::kNone)) return;
  }
}

Server::Calls Server::look() const {
  pollfd state = {service_.listener.fd(), POLLIN, 0};
  if (::poll(&state, 1, 0) <= 0) return Calls::kNone;
  return (state.revents & (POLLHUP | POLLERR)) != 0 ? Calls::kNoMore : Calls::kSome;
}

// False: there was none.
bool Server::serve_next() {
  receiving_.store(true, std::memory_order_relaxed);
  auto received = service_.listener.receive();
  receiving_.store(false, std::memory_order_relaxed);
  if (!received.ok()) return fail(received.error().message), false;
  if (!received->has_value()) return false;
  notifications_.fetch_add(1, std::memory_order_relaxed);
  if (repeats_settled_open(**received))
    (void)service_.listener.send(**received, Reply::go_on());
  else
    serve(**received, false);
  return true;
}

SettledOpens::Epoch Server::epoch() const {
  return SettledOpens::epoch(service_.walker.changes(), service_.processes.execs());
}

bool Server::repeats_settled_open(const Notification& notification) {
  return settled_ && !service_.processes.expects_any() && settled_->repeats(notification, epoch());
}

void Server::serve(const Notification& notification, bool may_block) {
  Listener& listener = service_.listener;
  Processes& processes = service_.processes;
  const CallRow* const row = find_call(notification.number);
  if (row == nullptr) {
    // The filter notifies what the table has; a test compares them.
    (void)listener.send(notification, Reply::error(ENOSYS));
    return;
  }
  Call call(notification, service_, may_block);
  if (processes.expects_any()) {
    if (const auto other = processes.unexpected(notification.tid)) {
      call.note_refusal(Kind::kRun, *other, "started in place of the program that was decided on");
      if (listener.still_valid(notification)) ::kill(notification.tid, SIGKILL);
      (void)listener.send(notification, Reply::error(EPERM));
      return;
    }
  }
  const SettledOpens::Epoch before = epoch();
  const bool counts_written = service_.plan.limits.written.has_value();
  const uint64_t written = counts_written ? own_written() : 0;
  Reply reply = Reply::error(EPERM);
  if (processes.changed_identity()) {
    if (const auto status = processes.status(notification.tid)) {
      const BorrowedIdentity identity(*status);
      if (identity.ok()) reply = row->handler(call);
    }
  } else {
    reply = row->handler(call);
  }
  if (counts_written) note_copied_up(written);
  if (call.memory_is_refused()) {
    // Not EFAULT, which would be said of an address, and to nobody else.
    call.note_refusal(Kind::kSystem, row->name, kMemoryIsRefused);
    reply = Reply::error(EACCES);
  }
  if (reply.type() == Reply::Type::kLater) {
    if (!may_block)
      pool_.submit(notification);
    else  // a handler that may wait has no reason to ask again
      (void)listener.send(notification, Reply::error(EAGAIN));
    return;
  }
  if (call.settled() && !may_block) {
    if (!settled_) settled_ = std::make_unique<SettledOpens>();
    settled_->keep(notification, *call.settled(), before);
  }
  (void)listener.send(notification, std::move(reply));
}

void Server::note_copied_up(uint64_t before) {
  const uint64_t now = own_written();
  // What cannot be told is more than may be.
  service_.processes.note_taken(
      before == UINT64_MAX || now == UINT64_MAX ? *service_.plan.limits.written + 1 : now - before);
}

}  // namespace bulkhead
