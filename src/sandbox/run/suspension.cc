#include "sandbox/run/suspension.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "sandbox/run/sentry.h"

namespace bulkhead {
namespace {

// Those who started us stop, so that the shell sees it, and we with them, who hold back that stop
// otherwise (JobControl). Ours is taken by this very thread, at once: else it could go on while the
// terminal is the shell's already. Whoever continues the group in between has undone it. Returns
// when somebody continues us.
void stop_as_by_key(pid_t group) {
  ::kill(-group, SIGTSTP);
  sigset_t stop, before, continued;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Who was stopped for the question goes on with it, not by this: passed on later than the
  // question comes back, it would disturb that.
  sigemptyset(&continued);
  sigaddset(&continued, SIGCONT);
  const timespec now{};
  ::sigtimedwait(&continued, nullptr, &now);
}

}  // namespace

Suspension::Suspension() : wanted_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Suspension::stop(pid_t group) {
  std::unique_lock lock(mutex_);
  const uint64_t one = 1;
  if (ended_ || ::write(wanted_fd_.get(), &one, sizeof one) < 0) return;
  group_ = group;
  changed_.wait(lock, [this] { return group_ == 0 || ended_; });
}

void Suspension::end() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::optional<LimitBreached> Suspension::serve(const Compartment& compartment,
                                               LimitKeeper& limits) {
  uint64_t wanted = 0;
  (void)!::read(wanted_fd_.get(), &wanted, sizeof wanted);
  std::unique_lock lock(mutex_);
  if (group_ == 0) return std::nullopt;
  Sentry sentry(limits, compartment);
  if (sentry.stands()) stop_as_by_key(group_);
  std::optional<LimitBreached> breach = sentry.relieve();
  if (!breach) breach = limits.poll();
  if (breach) return breach;
  group_ = 0;
  changed_.notify_all();
  return std::nullopt;
}

}  // namespace bulkhead
