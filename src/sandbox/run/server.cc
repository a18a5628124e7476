#include "sandbox/run/server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "sandbox/caller/identity.h"
#include "sandbox/caller/walker.h"
#include "sandbox/kernel/interrupt.h"
#include "sandbox/kernel/processes.h"
#include "sandbox/launch/image.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {

namespace {

constexpr std::string_view kMemoryIsRefused =
    "the kernel lets nobody look into its caller, whose program, or that program's interpreter, "
    "this user may execute and not read";

// What the kernel has counted as written by this thread; UINT64_MAX where it does not tell.
uint64_t own_written() {
  thread_local const Fd count(::open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC));
  uint64_t bytes = 0;
  return ProcReader::written_bytes(count, &bytes) ? bytes : UINT64_MAX;
}

}  // namespace

Server::Server(Service& service)
    : service_(service), pool_(service.listener, [this](const Notification& notification) {
        serve(notification, true);
      }) {}

Status Server::start(std::optional<Notification> first) {
  BULKHEAD_CHECK(take_interrupt());
  ended_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ended_) return errno_error("make an eventfd");
  BULKHEAD_TRY(ended_, above_stdio(std::move(ended_)));
  // A new thread inherits the mask.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  sigdelset(&all, interrupt_signal());
  pthread_sigmask(SIG_SETMASK, &all, &old);
  Status status;
  try {
    thread_ = std::thread([this, first] {
      if (own_thread_settings())
        loop(first);
      else
        fail("a thread cannot have a umask of its own");
      finished_.store(true);
      const uint64_t one = 1;
      (void)!::write(ended_.get(), &one, sizeof one);
    });
  } catch (const std::system_error& error) {
    status = errno_error("start the serving thread", error.code().value());
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return status;
}

void Server::stop() {
  stopping_.store(true);
  if (thread_.joinable()) {
    // A signal that comes just before the thread sleeps does not wake it: again.
    for (pollfd ended = {ended_.get(), POLLIN, 0}; !finished_.load();) {
      interrupt(thread_.native_handle());
      (void)::poll(&ended, 1, 1);
    }
    thread_.join();
  }
  pool_.stop();
}

std::string Server::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Server::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why;
}

void Server::loop(const std::optional<Notification>& first) {
  if (first) {
    notifications_.fetch_add(1, std::memory_order_relaxed);
    serve(*first, false);
  }
  while (!stopping_.load(std::memory_order_relaxed)) {
    auto received = service_.listener.receive();
    if (!received.ok()) return fail(received.error().message);
    if (!received->has_value()) {
      // Interrupted, or that caller died, or all of them did.
      pollfd state = {service_.listener.fd(), POLLIN, 0};
      if (::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0) return;
      continue;
    }
    notifications_.fetch_add(1, std::memory_order_relaxed);
    if (repeats_settled_open(**received)) {
      (void)service_.listener.send(**received, Reply::go_on());
      continue;
    }
    serve(**received, false);
  }
}

SettledOpens::Epoch Server::epoch() const {
  return SettledOpens::epoch(service_.walker.changes(), service_.processes.execs());
}

bool Server::repeats_settled_open(const Notification& notification) {
  return !service_.processes.expects_any() && settled_.repeats(notification, epoch());
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
  if (call.settled() && !may_block) settled_.keep(notification, *call.settled(), before);
  (void)listener.send(notification, std::move(reply));
}

void Server::note_copied_up(uint64_t before) {
  const uint64_t now = own_written();
  // What cannot be told is more than may be.
  service_.processes.note_taken(
      before == UINT64_MAX || now == UINT64_MAX ? *service_.plan.limits.written + 1 : now - before);
}

}  // namespace bulkhead
