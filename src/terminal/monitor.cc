#include "terminal/monitor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <initializer_list>
#include <utility>

#include "terminal/relay.h"

namespace bulkhead {
namespace {

constexpr std::initializer_list<int> kOfTheRelay = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                                    SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

struct Pty {
  Fd relay_end, program_end;
};

// With the modes and the size of the person's.
Result<Pty> make_pty(const UserTerminal& like) {
  Pty pty;
  pty.relay_end.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!pty.relay_end || grantpt(pty.relay_end.get()) != 0 || unlockpt(pty.relay_end.get()) != 0)
    return errno_error("make a terminal for the program");
  pty.program_end.reset(ioctl(pty.relay_end.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!pty.program_end || tcsetattr(pty.program_end.get(), TCSANOW, &like.modes()) != 0)
    return errno_error("open the program's terminal");
  struct winsize size = {};
  if (ioctl(like.fd(), TIOCGWINSZ, &size) == 0)
    static_cast<void>(ioctl(pty.program_end.get(), TIOCSWINSZ, &size));
  return pty;
}

// As the monitor did, which does as the program did: a shell, make or CI tells an interrupted job
// by its signal.
[[noreturn]] void end_like(pid_t monitor, bool interrupted_by_key) {
  int status = 0;
  while (waitpid(monitor, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  // A key's signal would have reached who started us as well (`sh -c 'bulkhead run …; echo'`).
  const bool of_key = interrupted_by_key && (number == SIGINT || number == SIGQUIT);
  kill(of_key ? 0 : getpid(), number);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  _exit(128 + number);
}

}  // namespace

Result<std::unique_ptr<TerminalMonitor>> TerminalMonitor::begin(UserTerminal terminal) {
  BULKHEAD_TRY(Pty pty, make_pty(terminal));
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return errno_error("make a socket pair");
  Fd ours(ends[0]), theirs(ends[1]);
  sigset_t of_the_relay, before;
  sigemptyset(&of_the_relay);
  for (const int one : kOfTheRelay) sigaddset(&of_the_relay, one);
  sigprocmask(SIG_BLOCK, &of_the_relay, &before);
  Fd signals(signalfd(-1, &of_the_relay, SFD_CLOEXEC | SFD_NONBLOCK));
  const pid_t relay = getpid();
  const pid_t monitor = signals ? fork() : -1;
  if (monitor < 0) {
    Error error = errno_error("start the supervisor beside the terminal");
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return error;
  }
  if (monitor > 0) {
    pty.program_end.reset();
    theirs.reset();
    TerminalRelay at_terminal(std::move(terminal), std::move(pty.relay_end), std::move(ours),
                              std::move(signals), monitor);
    at_terminal.run();
    end_like(monitor, at_terminal.interrupted_by_key());
  }
  pty.relay_end.reset();
  ours.reset();
  signals.reset();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != relay) _exit(1);
  if (setsid() < 0 || ioctl(pty.program_end.get(), TIOCSCTTY, 0) != 0)
    return errno_error("make the program's terminal that of its session");
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return std::unique_ptr<TerminalMonitor>(
      new TerminalMonitor(std::move(terminal), std::move(pty.program_end), std::move(theirs)));
}

TerminalMonitor::TerminalMonitor(UserTerminal terminal, Fd program_end, Fd messages)
    : terminal_(std::move(terminal)),
      program_end_(std::move(program_end)),
      messages_(std::move(messages)),
      relay_(getppid()) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // so that SIGTTOU stops nobody here, too
  listening_ = std::thread([this] { listen(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TerminalMonitor::~TerminalMonitor() {
  finish();
  shutdown(messages_.get(), SHUT_RDWR);
  listening_.join();
}

Stdio TerminalMonitor::stdio() const {
  Stdio stdio;
  for (int fd = 0; fd < 3; ++fd) stdio[fd] = terminal_.is(fd) ? program_end_.get() : fd;
  return stdio;
}

void TerminalMonitor::send(TerminalMessage::What what, int number, const std::string& text) const {
  static_cast<void>(send_message(messages_.get(), {.what = what, .number = number, .text = text}));
}

void TerminalMonitor::started(pid_t program, const std::string& lock_file) {
  std::unique_lock lock(mutex_);
  program_ = program;
  send(TerminalMessage::What::kStarted, 0, lock_file);
  changed_.wait(lock, [this] { return placed_ || gone_; });
}

void TerminalMonitor::stopped(int signal) {
  const std::lock_guard lock(mutex_);
  take_terminal();
  // Once: a relay that is stopped reads nothing, and whoever keeps the limits must not wait for it,
  // however often the program stops.
  if (!std::exchange(stop_told_, true)) send(TerminalMessage::What::kStopped, signal);
}

Answer TerminalMonitor::ask(const std::string& text, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (cancelled_) return Answer::kNobody;
  answer_.reset();
  send(TerminalMessage::What::kQuestion, static_cast<int>(patience.count()), text);
  changed_.wait(lock, [this] { return answer_ || gone_ || cancelled_; });
  return cancelled_ ? Answer::kNobody : answer_.value_or(Answer::kNobody);
}

void TerminalMonitor::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  send(TerminalMessage::What::kCancel);
  changed_.notify_all();
}

void TerminalMonitor::say(const std::string& text) { send(TerminalMessage::What::kSay, 0, text); }

void TerminalMonitor::finish() noexcept {
  std::unique_lock lock(mutex_);
  if (std::exchange(finished_, true)) return;
  program_ = 0;
  program_end_.reset();
  send(TerminalMessage::What::kEnded);
  // A job that is stopped ends as well, also one that is about to stop.
  do {
    if (getppid() == relay_) kill(relay_, SIGCONT);
  } while (
      !changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return shown_ || gone_; }));
}

void TerminalMonitor::listen() {
  using What = TerminalMessage::What;
  TerminalMessage message;
  while (receive_message(messages_.get(), message)) {
    const std::lock_guard lock(mutex_);
    switch (message.what) {
      case What::kForeground:
      case What::kBackground:
        go_on(message.what == What::kForeground);
        placed_ = true;
        send(What::kPlaced);
        break;
      case What::kStop:
        if (const pid_t group = program_group(); group > 0) kill(-group, SIGTSTP);
        break;
      case What::kInterrupted:
        // Before the call that asked is refused.
        if (const pid_t group = program_group(); message.number == 0 && group > 0)
          kill(-group, SIGINT);
        answer_ = Answer::kNobody;
        break;
      case What::kAnswer:
        answer_ = static_cast<Answer>(message.number);
        if (*answer_ != Answer::kNotAsked) redraw();
        break;
      case What::kShown:
        shown_ = true;
        break;
      default:
        break;
    }
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  gone_ = true;
  changed_.notify_all();
}

void TerminalMonitor::take_terminal() {
  const pid_t now = tcgetpgrp(program_end_.get());
  if (now > 0 && now != getpgrp()) foreground_ = now;
  static_cast<void>(tcsetpgrp(program_end_.get(), getpgrp()));
}

pid_t TerminalMonitor::program_group() const {
  const pid_t group = program_ > 0 ? getpgid(program_) : -1;
  return group == getpgrp() ? -1 : group;
}

void TerminalMonitor::go_on(bool with_terminal) {
  stop_told_ = false;
  const pid_t group = program_group();
  if (group <= 0) return;
  take_terminal();
  const bool as_before = foreground_ > 0 && kill(-foreground_, 0) == 0;
  if (with_terminal)
    static_cast<void>(tcsetpgrp(program_end_.get(), as_before ? foreground_ : group));
  // As its shell would.
  kill(-group, SIGCONT);
}

// What it has drawn was written over. Where the group's number is another's by now, that one draws
// once more.
void TerminalMonitor::redraw() const {
  pid_t group = tcgetpgrp(program_end_.get());
  if (group <= 0 || group == getpgrp()) group = program_group();  // nobody has the terminal
  if (group > 0) kill(-group, SIGWINCH);
}

}  // namespace bulkhead
