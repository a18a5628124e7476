#include "sandbox/run/job_control.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <utility>
#include <vector>

#include "sandbox/caller/pool.h"
#include "sandbox/kernel/process_stat.h"
#include "sandbox/run/sentry.h"
#include "sandbox/run/stillness.h"

namespace bulkhead {

namespace {

constexpr std::initializer_list<int> kPassedOn = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
                                                  SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
// Not the program's stand-in here: it stops first, and then the supervisor with it. SIGPIPE would
// end the supervisor when a peer hangs up.
constexpr std::initializer_list<int> kHeldBack = {SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};

// By which somebody ends a program.
bool ends_programs(uint32_t signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void do_nothing(int) {}

// True where the group is the compartment's.
bool has_group(const Compartment& compartment, pid_t group) {
  for (const std::vector<pid_t>& generation : descendants_of(compartment.init))
    for (const pid_t pid : generation)
      if (const auto its = stat_of(folder_of(pid)); its && its->group == group) return true;
  return false;
}

// For the compartment to stop. A program that starts others all the time may never.
constexpr std::chrono::seconds kStillIn{2};

}  // namespace

bool is_empty_group(pid_t group) { return ::kill(-group, 0) != 0 && errno == ESRCH; }

Result<JobControl> JobControl::take(bool job_control) {
  JobControl self;
  self.job_control_ = job_control;
  self.terminal_ = Fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (self.terminal_) {
    self.foreground_ = ::tcgetpgrp(self.terminal_.get());
    self.keys_ = TerminalKeys::of(self.terminal_.get());
    int exclusive = 0;
    self.was_exclusive_ =
        ::ioctl(self.terminal_.get(), TIOCGEXCL, &exclusive) == 0 && exclusive != 0;
  }
  sigset_t passed;
  sigemptyset(&passed);
  for (const int one : kPassedOn) sigaddset(&passed, one);
  sigset_t blocked = passed;
  for (const int one : kHeldBack) sigaddset(&blocked, one);
  self.signals_ = Fd(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!self.signals_) return errno_error("receive signals");
  struct sigaction interrupt {};
  interrupt.sa_handler = do_nothing;  // without SA_RESTART: interrupting is its purpose
  sigemptyset(&interrupt.sa_mask);
  if (::sigaction(kInterruptSignal, &interrupt, &self.old_interrupt_) != 0 ||
      pthread_sigmask(SIG_BLOCK, &blocked, &self.old_mask_) != 0)
    return errno_error("set up signals");
  self.active_ = true;
  return self;
}

JobControl::JobControl(JobControl&& other) noexcept
    : signals_(std::move(other.signals_)),
      terminal_(std::move(other.terminal_)),
      foreground_(other.foreground_),
      keys_(other.keys_),
      was_exclusive_(other.was_exclusive_),
      job_control_(other.job_control_),
      active_(std::exchange(other.active_, false)),
      old_mask_(other.old_mask_),
      old_interrupt_(other.old_interrupt_) {}

JobControl::~JobControl() {
  if (!active_) return;
  // An interactive program makes its own group the terminal's foreground; ours got it from a shell
  // that expects it back so. The program's groups have ended with it: one that lives is another
  // run's question, which would lose its answer. SIGTTOU is blocked still: this stops nobody.
  if (terminal_ && foreground_ > 0 && foreground_ == ::getpgrp())
    if (const pid_t now = ::tcgetpgrp(terminal_.get()); now > 0 && is_empty_group(now))
      (void)::tcsetpgrp(terminal_.get(), foreground_);
  // What a program can leave a terminal in that no key undoes: output held (Ctrl-Q does not end
  // TCOOFF, and we could not say a word), closed to whoever opens it next (sudo, ssh, us), and keys
  // that mean something else to whoever reads next. Raw modes stay, as stty's shall.
  if (terminal_ && foreground_ > 0 && foreground_ == ::getpgrp()) {
    (void)::tcflow(terminal_.get(), TCOON);
    if (!was_exclusive_) (void)::ioctl(terminal_.get(), TIOCNXCL);
    if (keys_ && ::tcgetpgrp(terminal_.get()) == foreground_) keys_->restore(terminal_.get());
  }
  // What was meant for the program has ended with it.
  signalfd_siginfo late{};
  while (::read(signals_.get(), &late, sizeof late) == sizeof late) {
  }
  ::sigaction(kInterruptSignal, &old_interrupt_, nullptr);
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

bool JobControl::pass_on(pid_t program) const {
  bool ends = false;
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    // From the terminal: the whole foreground group got it. A hang-up goes to the session's leader,
    // which may be this process alone.
    const bool from_kernel = info.ssi_code > 0;
    if (from_kernel && info.ssi_signo != SIGHUP) continue;
    ::kill(program, static_cast<int>(info.ssi_signo));
    // Our own is a Ctrl-C at a question, which has ended by it.
    if (ends_programs(info.ssi_signo) && info.ssi_pid != static_cast<uint32_t>(::getpid()))
      ends = true;
  }
  return ends;
}

std::optional<LimitBreached> JobControl::stop_with(const Compartment& compartment,
                                                   LimitKeeper& limits) const {
  if (!job_control_) return std::nullopt;
  const pid_t before = terminal_ ? ::tcgetpgrp(terminal_.get()) : -1;
  const std::string program = folder_of(compartment.program);
  uint64_t switches = 0;
  std::optional<LimitBreached> breach;
  // Nobody else looks until all are still, which a program can put off.
  const auto is_breached = [&] {
    pollfd timer{limits.fd(), POLLIN, 0};
    if (!breach && ::poll(&timer, 1, 0) > 0) breach = limits.poll();
    return breach.has_value();
  };
  std::optional<Sentry> sentry;
  {
    Stillness still([&compartment] { return descendants_of(compartment.init); });
    if (still.reach(kStillIn, is_breached)) {
      switches = switches_of(program);
      sentry.emplace(limits, compartment);
      // Not from the background: somebody else reads there.
      if (keys_ && (before == ::getpgrp() || has_group(compartment, before)))
        keys_->restore(terminal_.get());
      // To the process, not to the group: the program's own stop is done. This call returns when
      // somebody continues us.
      if (sentry->stands()) ::kill(::getpid(), SIGSTOP);
    }
    // A program that had made its own group the foreground expects it again, as from its shell.
    if (terminal_ && before > 0 && foreground_ == ::getpgrp() && before != foreground_ &&
        ::tcgetpgrp(terminal_.get()) == foreground_)
      (void)::tcsetpgrp(terminal_.get(), before);
  }
  // A shell continues the program by its group. One that has run since may have stopped again.
  if (!sentry || switches_of(program) == switches) ::kill(compartment.program, SIGCONT);
  sigset_t continued;
  sigemptyset(&continued);
  sigaddset(&continued, SIGCONT);
  const timespec now{};
  ::sigtimedwait(&continued, nullptr, &now);  // has been passed on
  if (sentry) breach = sentry->relieve();
  return breach ? breach : limits.poll();
}

}  // namespace bulkhead
