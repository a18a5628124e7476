#include "terminal/relay.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

#include "sandbox/kernel/process_stat.h"
#include "sandbox/run/signals.h"
#include "terminal/display.h"

namespace bulkhead {
namespace {

constexpr size_t kAtOnce = 64 << 10;
constexpr int kLook = 50;         // milliseconds, at another run's question
constexpr int kLookAtKeys = 200;  // the same, where another program of the job reads them

// The terminal makes "\r\n" of "\n" itself where its modes are not ours, and has made it once.
void take_returns_out(std::string& text, bool& returned) {
  std::string out;
  out.reserve(text.size() + 1);
  for (const char c : text) {
    if (std::exchange(returned, false) && c != '\n') out += '\r';
    if (c == '\r')
      returned = true;
    else
      out += c;
  }
  text = std::move(out);
}

}  // namespace

TerminalRelay::TerminalRelay(UserTerminal terminal, Fd pty, Fd messages, Fd signals, pid_t monitor)
    : terminal_(std::move(terminal)),
      pty_(std::move(pty)),
      messages_(std::move(messages)),
      signals_(std::move(signals)),
      monitor_(monitor),
      wants_keys_(terminal_.offers_keys()),
      has_modes_(terminal_.knows_modes()) {}

void TerminalRelay::run() {
  while (!gone_) {
    if (postponed_.empty()) {
      step();
    } else {
      const TerminalMessage next = std::move(postponed_.front());
      postponed_.pop_front();
      handle(next);
    }
  }
  terminal_.give_back_keys();
}

void TerminalRelay::step() {
  others_ask_ = others_ask_ && lock_.others_ask_here();
  if (waits_for_keys_ && (terminal_.may_take_keys() || !terminal_.has_foreground()))
    program_stopped(SIGTTIN);
  // A key must not meet another group than the program's: its Ctrl-Z would be nobody's.
  if (others_read_) others_read_ = terminal_.others_have_keys();
  const bool reads = terminal_.has_keys() && unplaced_ == 0 && keys_.empty() && !others_read_;
  const auto wanted = [](bool in, bool out) {
    return static_cast<short>((in ? POLLIN : 0) | (out ? POLLOUT : 0));
  };
  const bool looks = (reads || !output_.empty()) && !hung_up_ && !others_ask_;
  const short with_program = wanted(output_.empty() && !others_ask_, !keys_.empty());
  std::array<struct pollfd, 4> fds = {{
      {.fd = messages_.get(), .events = POLLIN, .revents = 0},
      {.fd = signals_.get(), .events = POLLIN, .revents = 0},
      // Of a descriptor without events an end would be told again and again.
      {.fd = with_program != 0 && !all_read_ ? pty_.get() : -1,
       .events = with_program,
       .revents = 0},
      {.fd = looks ? terminal_.fd() : -1, .events = wanted(reads, !output_.empty()), .revents = 0},
  }};
  const bool looks_at_keys = waits_for_keys_ || others_read_;
  const int longest = others_ask_ ? kLook : looks_at_keys ? kLookAtKeys : -1;
  if (poll(fds.data(), fds.size(), longest) <= 0) return;
  if (fds[1].revents != 0) {
    signalfd_siginfo signal{};
    while (read_signal(signal)) handle(signal);
  }
  if ((fds[2].revents & POLLOUT) != 0 && pty_) write_keys();
  const bool at_terminal = fds[3].revents != 0 || (fds[2].revents & ~POLLOUT) != 0;
  if (at_terminal && !hung_up_) {
    others_ask_ = lock_.others_ask_here();
    if (!others_ask_) {
      if ((fds[3].revents & POLLOUT) != 0) write_output();
      if ((fds[3].revents & ~POLLOUT) != 0) read_keys();
      if ((fds[2].revents & ~POLLOUT) != 0 && output_.empty() && pty_) read_output();
    }
  }
  if (fds[0].revents != 0) {
    TerminalMessage message;
    if (receive_message(messages_.get(), message))
      handle(message);
    else
      gone_ = true;
  }
}

void TerminalRelay::handle(const TerminalMessage& message) {
  using What = TerminalMessage::What;
  switch (message.what) {
    case What::kStarted:
      lock_ = QuestionLock(message.text, terminal_.fd());
      started_ = true;
      go_on();
      break;
    case What::kStopped:
      program_stopped(message.number);
      break;
    case What::kPlaced:
      --unplaced_;
      break;
    case What::kQuestion:
      ask(message);
      break;
    case What::kSay: {
      // Nothing ends a line by itself where the keys are ours.
      std::string text = plain_screen();
      for (const char c : message.text) {
        if (c == '\n' && terminal_.has_keys()) text += '\r';
        text += c;
      }
      show(text);
      break;
    }
    case What::kEnded:
      ended_ = true;
      if (hung_up_ || all_read_) send(What::kShown);
      break;
    default:
      break;
  }
}

void TerminalRelay::send(TerminalMessage::What what, int number) const {
  static_cast<void>(send_message(messages_.get(), {.what = what, .number = number}));
}

// ---- bytes ----

void TerminalRelay::read_keys() {
  if (!terminal_.has_keys()) {
    if (terminal_.is_hung_up()) hang_up();
    return;
  }
  // Before each read: a prompt is shown once its modes are set.
  others_read_ = terminal_.others_have_keys();
  if (others_read_) return;
  std::array<char, kAtOnce> typed;
  const ssize_t size = read(terminal_.fd(), typed.data(), typed.size());
  if (size <= 0) {
    if (size == 0 || (errno != EAGAIN && errno != EINTR)) hang_up();
    return;
  }
  keys_.assign(typed.data(), static_cast<size_t>(size));
  struct termios modes = {};
  interrupted_by_key_ =
      pty_ && tcgetattr(pty_.get(), &modes) == 0 && (modes.c_lflag & ISIG) != 0 &&
      std::any_of(keys_.begin(), keys_.end(), [&](char c) {
        const auto key = static_cast<cc_t>(c);
        // The program may have made any key one that interrupts.
        return terminal_.interrupts(key) && (key == modes.c_cc[VINTR] || key == modes.c_cc[VQUIT]);
      });
  write_keys();
}

void TerminalRelay::write_keys() {
  const ssize_t size = write(pty_.get(), keys_.data(), keys_.size());
  if (size > 0)
    keys_.erase(0, static_cast<size_t>(size));
  else if (size < 0 && errno != EAGAIN && errno != EINTR)
    keys_.clear();  // nobody reads any more
}

void TerminalRelay::read_output() {
  std::array<char, kAtOnce> said;
  const ssize_t size = read(pty_.get(), said.data(), said.size());
  if (size > 0) {
    output_.assign(said.data(), static_cast<size_t>(size));
    keyboard_.follow(output_);
    if (!terminal_.has_keys()) take_returns_out(output_, carriage_returned_);
    write_output();
  } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
    all_read_ = true;  // the last who had it has closed it
    if (std::exchange(carriage_returned_, false)) show("\r");
    terminal_.give_back_keys();
    if (ended_) send(TerminalMessage::What::kShown);
  }
}

void TerminalRelay::write_output() {
  if (hung_up_) output_.clear();
  if (output_.empty()) return;
  const ssize_t size = write(terminal_.fd(), output_.data(), output_.size());
  if (size > 0)
    output_.erase(0, static_cast<size_t>(size));
  else if (size < 0 && errno != EAGAIN && errno != EINTR)
    hang_up();
}

void TerminalRelay::show(std::string_view text) {
  output_.append(text);
  while (!output_.empty() && !hung_up_) {
    write_output();
    std::array<struct pollfd, 2> waiting = {{
        {.fd = terminal_.fd(), .events = POLLOUT, .revents = 0},
        {.fd = signals_.get(), .events = POLLIN, .revents = 0},
    }};
    if (output_.empty() || poll(waiting.data(), waiting.size(), -1) <= 0) continue;
    signalfd_siginfo signal{};
    while (waiting[1].revents != 0 && read_signal(signal)) {
      if (signal.ssi_signo == SIGHUP && terminal_.is_hung_up()) hang_up();
      pass_on(signal);
    }
  }
}

void TerminalRelay::resize() const {
  struct winsize size = {};
  if (pty_ && ioctl(terminal_.fd(), TIOCGWINSZ, &size) == 0)
    static_cast<void>(ioctl(pty_.get(), TIOCSWINSZ, &size));
}

// As the kernel does it to whoever has the terminal: the program reads its end, and gets SIGHUP.
void TerminalRelay::hang_up() {
  if (std::exchange(hung_up_, true)) return;
  output_.clear();
  keys_.clear();
  pty_.reset();
  if (ended_) send(TerminalMessage::What::kShown);
}

// ---- signals and stops ----

bool TerminalRelay::read_signal(signalfd_siginfo& signal) const {
  return read(signals_.get(), &signal, sizeof signal) == sizeof signal;
}

void TerminalRelay::pass_on(const signalfd_siginfo& signal) const {
  // In turn with what continues it.
  if (signal.ssi_signo == SIGTSTP) return send(TerminalMessage::What::kStop);
  // What the terminal sends is for the job; what somebody sends to this process, for the program.
  sigval value = {};
  value.sival_int = signal.ssi_code > 0 ? kToJob : 0;
  static_cast<void>(sigqueue(monitor_, static_cast<int>(signal.ssi_signo), value));
}

void TerminalRelay::handle(const signalfd_siginfo& signal) {
  if (signal.ssi_signo == SIGWINCH) return resize();
  if (signal.ssi_signo == SIGCONT && started_) return go_on();
  if (signal.ssi_signo == SIGHUP && terminal_.is_hung_up()) hang_up();
  pass_on(signal);
}

// A run that was started in the background begins with the modes of whoever had the terminal then.
bool TerminalRelay::take_keys() {
  if (!terminal_.take_keys()) return false;
  if (terminal_.knows_modes() && !std::exchange(has_modes_, true) && pty_)
    static_cast<void>(tcsetattr(pty_.get(), TCSANOW, &terminal_.modes()));
  return true;
}

void TerminalRelay::program_stopped(int signal) {
  if (all_read_) return;
  const bool wants = signal == SIGTTIN || signal == SIGTTOU;
  wants_keys_ = wants_keys_ || wants;
  waits_for_keys_ = false;
  if (wants && take_keys()) return go_on();
  waits_for_keys_ = wants && !hung_up_ && terminal_.has_foreground();
  if (waits_for_keys_) return;
  if (wants && (hung_up_ || is_orphaned(getpgrp()))) {
    // Nobody could bring it back. The kernel says EIO to such a program; here it reads its end.
    struct termios modes = {};
    if (pty_ && tcgetattr(pty_.get(), &modes) == 0)
      keys_.assign(1, static_cast<char>(modes.c_cc[VEOF]));
    return place(true);
  }
  stop(signal);
}

// Returns once somebody has continued us, or at once where nobody could (an orphaned group).
void TerminalRelay::stop(int signal) {
  terminal_.give_back_keys();
  if (signal == SIGSTOP) {
    if (!is_orphaned(getpgrp())) kill(getpid(), signal);
  } else {
    // As by the key: who else is in the job stops too.
    kill(0, signal);
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  sigset_t continued;
  sigemptyset(&continued);
  sigaddset(&continued, SIGCONT);
  const timespec now{};
  sigtimedwait(&continued, nullptr, &now);
  go_on();
}

void TerminalRelay::go_on() {
  if (ended_ || all_read_) return;
  const bool has = wants_keys_ && !hung_up_ && take_keys();
  resize();
  place(has);
}

void TerminalRelay::place(bool with_terminal) {
  ++unplaced_;
  send(with_terminal ? TerminalMessage::What::kForeground : TerminalMessage::What::kBackground);
}

}  // namespace bulkhead
