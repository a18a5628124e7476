#include "sandbox/kernel/interrupt.h"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <mutex>

namespace bulkhead {
namespace {

std::atomic<int> taken = 0;

void do_nothing(int /*signal*/) {}

// One that the caller blocks it may wait for, by signalfd(2) or sigwaitinfo(2).
bool take(int signal, bool blocked_too) {
  sigset_t blocked;
  if (::pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0 ||
      (!blocked_too && ::sigismember(&blocked, signal) != 0))
    return false;
  struct sigaction now {};
  if (::sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != SIG_DFL)
    return false;
  struct sigaction ours {};
  ours.sa_handler = do_nothing;  // without SA_RESTART: interrupting is its purpose
  sigemptyset(&ours.sa_mask);
  return ::sigaction(signal, &ours, nullptr) == 0;
}

}  // namespace

Status take_interrupt() {
  static std::mutex one;
  const std::lock_guard lock(one);
  for (const bool blocked_too : {false, true})
    for (int signal = SIGRTMAX; taken.load() == 0 && signal >= SIGRTMIN; --signal)
      if (take(signal, blocked_too)) taken.store(signal);
  if (taken.load() != 0) return {};
  return Error{
      "cannot serve a compartment: every real-time signal of this process has a handler already "
      "(leave one as it is, see signal(7))",
      EBUSY};
}

int interrupt_signal() noexcept { return taken.load(std::memory_order_relaxed); }

void interrupt(pthread_t thread) noexcept { ::pthread_kill(thread, interrupt_signal()); }

MaskForThreads::MaskForThreads() {
  sigset_t all;
  ::sigfillset(&all);
  if (interrupt_signal() != 0) ::sigdelset(&all, interrupt_signal());
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

MaskForThreads::~MaskForThreads() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace bulkhead
