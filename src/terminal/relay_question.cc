// The relay's questions: while one is open nothing goes to or from the program.
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "terminal/display.h"
#include "terminal/question.h"
#include "terminal/relay.h"

namespace bulkhead {
namespace {

// A question is put, where somebody set the terminal's modes beside it.
constexpr int kMostTimes = 10;
constexpr int kMostTries = 3;
constexpr int kLook = 50;  // milliseconds, at another run's question
// Nothing has come for so long, since the question is there: by then a person has seen it.
constexpr std::chrono::milliseconds kQuiet{700};
constexpr std::string_view kTooLate = "\nbulkhead: no answer in time: no\n";

int left(std::chrono::steady_clock::time_point until) {
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, time.count()));
}

}  // namespace

void TerminalRelay::ask(const TerminalMessage& question) {
  End end = End::kDisturbed;
  Answer answer = Answer::kNobody;
  for (int times = 0; end == End::kDisturbed && times < kMostTimes; ++times) {
    end = put(question, answer);
    if (end != End::kStopped) continue;
    // Who else is in the job has stopped by the same key, and the program is told to.
    send(TerminalMessage::What::kStop);
    stop(SIGTSTP);
    end = End::kDisturbed;
    --times;
  }
  if (gone_) return;
  if (end == End::kNotAsked || end == End::kDisturbed) answer = Answer::kNotAsked;
  if (end == End::kInterrupted)
    send(TerminalMessage::What::kInterrupted, interrupt() ? 1 : 0);
  else
    send(TerminalMessage::What::kAnswer, static_cast<int>(answer));
}

// As the key does where the program has the terminal. By the terminal itself: the group's number
// may be another's once all of it have ended. False where the program has it not.
bool TerminalRelay::interrupt() const {
  constexpr unsigned long kSignal = 0x40045436;  // TIOCSIG, which libc's headers do not have
  const pid_t group = pty_ ? tcgetpgrp(pty_.get()) : -1;
  return group > 0 && group != monitor_ && kill(-group, 0) == 0 &&
         ioctl(pty_.get(), kSignal, SIGINT) == 0;
}

TerminalRelay::End TerminalRelay::put(const TerminalMessage& question, Answer& answer) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(question.number);
  if (!terminal_.controls() || hung_up_ || !wait_for_turn(until)) return End::kNotAsked;
  show("");  // what the program has said already
  struct termios before = {};
  End end = End::kNotAsked;
  // Behind the turn: the job may have lost the terminal meanwhile.
  if (terminal_.has_foreground() && tcgetattr(terminal_.fd(), &before) == 0) {
    if (terminal_.shut_line()) {
      show(plain_screen() + keyboard_.plain() + question.text + std::string(kQuestionSoon));
      const auto ended = wait_for_quiet(until);
      if (!ended && terminal_.open_line()) {
        show("\r" + std::string(kQuestionKeys));
        end = read_answer(until, answer);
      } else {
        end = ended.value_or(End::kDisturbed);
      }
      show(keyboard_.again());
    }
    terminal_.give_back_line(before);
  }
  lock_.give_back();
  return end;
}

TerminalRelay::End TerminalRelay::ended(End end, std::string_view words) {
  show(words);
  return end;
}

// What is typed before a person can have read the question answers nothing: it may be meant for
// the program, or for a question that the program has drawn. Nor does what the terminal replies to
// what it was told.
std::optional<TerminalRelay::End> TerminalRelay::wait_for_quiet(
    std::chrono::steady_clock::time_point until) {
  auto quiet = std::chrono::steady_clock::now() + kQuiet;
  for (;;) {
    if (left(until) == 0) return ended(End::kCancelled, kTooLate);
    std::array<struct pollfd, 3> waiting = {{
        {.fd = messages_.get(), .events = POLLIN, .revents = 0},
        {.fd = signals_.get(), .events = POLLIN, .revents = 0},
        {.fd = terminal_.fd(), .events = POLLIN, .revents = 0},
    }};
    const int ready = poll(waiting.data(), waiting.size(), std::min(left(quiet), left(until)));
    // By a look, too: this process may have been held up for so long.
    if (ready == 0 && left(quiet) == 0) return std::nullopt;
    if (ready <= 0) continue;
    if (const auto end = handle_at_question(waiting[0].revents, waiting[1].revents))
      return ended(*end);
    if (waiting[2].revents == 0) continue;
    // By reading: tcflush(3) would also lose a Ctrl-Z that the kernel has not looked at yet.
    std::array<char, 4096> typed = {};
    const ssize_t size = read(terminal_.fd(), typed.data(), typed.size());
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) {
      if (terminal_.is_hung_up()) hang_up();
      return ended(End::kCancelled);
    }
    quiet = std::chrono::steady_clock::now() + kQuiet;
  }
}

// Who asks for a password has the line, too: what is typed for it would be shown, and answer us.
bool TerminalRelay::wait_for_turn(std::chrono::steady_clock::time_point until) {
  auto is_ours = [this, taken = false]() mutable {
    taken = taken || lock_.take();
    return taken && !terminal_.others_hide_keys();
  };
  while (!is_ours()) {
    std::array<struct pollfd, 2> waiting = {{
        {.fd = messages_.get(), .events = POLLIN, .revents = 0},
        {.fd = signals_.get(), .events = POLLIN, .revents = 0},
    }};
    const bool told = poll(waiting.data(), waiting.size(), kLook) > 0 &&
                      handle_at_question(waiting[0].revents, waiting[1].revents);
    if (!told && left(until) > 0) continue;
    lock_.give_back();
    return false;
  }
  return true;
}

std::optional<TerminalRelay::End> TerminalRelay::handle_at_question(short messages, short signals) {
  if (messages != 0) {
    TerminalMessage message;
    if (!receive_message(messages_.get(), message)) {
      gone_ = true;
      return End::kCancelled;
    }
    if (message.what == TerminalMessage::What::kCancel) return End::kCancelled;
    postponed_.push_back(std::move(message));
  }
  signalfd_siginfo signal{};
  while (signals != 0 && read_signal(signal)) {
    const bool from_kernel = signal.ssi_code > 0;
    if (signal.ssi_signo == SIGTSTP) return End::kStopped;
    if (signal.ssi_signo == SIGINT && from_kernel) return End::kInterrupted;
    if (signal.ssi_signo == SIGWINCH)
      resize();
    else if (signal.ssi_signo == SIGHUP && terminal_.is_hung_up())
      hang_up();
    if (signal.ssi_signo != SIGWINCH) pass_on(signal);
    if (hung_up_) return End::kCancelled;
  }
  return std::nullopt;
}

TerminalRelay::End TerminalRelay::read_answer(std::chrono::steady_clock::time_point until,
                                              Answer& answer) {
  // A line in pieces is no answer: longer than any word, or ended without Enter (Ctrl-D).
  bool in_pieces = false;
  for (int tries = 0; tries < kMostTries;) {
    std::array<struct pollfd, 3> waiting = {{
        {.fd = messages_.get(), .events = POLLIN, .revents = 0},
        {.fd = signals_.get(), .events = POLLIN, .revents = 0},
        {.fd = terminal_.fd(), .events = POLLIN, .revents = 0},
    }};
    const int ready = poll(waiting.data(), waiting.size(), left(until));
    if (ready == 0) return ended(End::kCancelled, kTooLate);
    if (ready < 0) continue;
    if (const auto end = handle_at_question(waiting[0].revents, waiting[1].revents))
      return ended(*end);
    if (waiting[2].revents == 0) continue;
    std::array<char, 256> bytes = {};
    const ssize_t size = read(terminal_.fd(), bytes.data(), bytes.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) {  // end of file (Ctrl-D) or hang-up
      if (terminal_.is_hung_up()) hang_up();
      return ended(End::kCancelled);
    }
    if (!terminal_.has_line()) return ended(End::kDisturbed);
    const std::string_view line(bytes.data(), static_cast<size_t>(size));
    const bool ends = line.back() == '\n';
    const auto parsed = ends && !in_pieces ? parse_answer(line) : std::nullopt;
    in_pieces = !ends;
    if (!ends) continue;
    if (parsed) {
      answer = *parsed;
      return End::kAnswer;
    }
    show(kQuestionAgain);
    ++tries;
  }
  return End::kCancelled;
}

}  // namespace bulkhead
