#include "sandbox/run/sentry.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace bulkhead {
namespace {

// Which limit, then the message; nothing else is sent, so one read takes it.
constexpr size_t kLongestReport = 512;

[[noreturn]] void keep_watch(LimitKeeper& limits, const Compartment& compartment, const Fd& report,
                             pid_t supervisor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(1);
  ::prctl(PR_SET_NAME, "bulkhead-sentry");
  std::optional<LimitBreached> breach;
  while (!(breach = limits.poll())) {
    pollfd timer{limits.fd(), POLLIN, 0};
    ::poll(&timer, 1, -1);
  }
  const std::string text = static_cast<char>(breach->which) + breach->message;
  (void)!::write(report.get(), text.data(), std::min(text.size(), kLongestReport));
  begin_to_kill(compartment);
  for (;;) {  // the first may come before the stop
    ::kill(supervisor, SIGCONT);
    ::usleep(10'000);
  }
}

}  // namespace

Sentry::Sentry(LimitKeeper& limits, const Compartment& compartment) {
  if (limits.fd() < 0) return;
  pid_ = -1;
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  report_.reset(ends[0]);
  const Fd report(ends[1]);
  const pid_t supervisor = ::getpid();
  // Not clone(2): memory can be allocated in the child only where libc knows of it.
  pid_ = ::fork();
  if (pid_ == 0) keep_watch(limits, compartment, report, supervisor);
  // Out of the job: whoever stops that by its group stops the supervisor alone.
  if (pid_ > 0) ::setpgid(pid_, pid_);
}

std::optional<LimitBreached> Sentry::relieve() {
  if (pid_ <= 0) return std::nullopt;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  std::array<char, kLongestReport> text{};
  const ssize_t size = ::read(report_.get(), text.data(), text.size());
  if (size <= 0) return std::nullopt;
  return LimitBreached{static_cast<LimitBreached::Which>(text[0]),
                       std::string(text.data() + 1, static_cast<size_t>(size) - 1)};
}

}  // namespace bulkhead
