// TerminalRelay: stands at a person's terminal for a program that has another one, as sudo does
// (use_pty). Bytes go both ways, sizes and stops too, and bulkhead's own questions in between.
//
//   person's terminal ◄─► relay ◄─ pty ─► program
//                           ▲                ▲
//                           └── messages ── monitor, which supervises the program
//
// The relay is the process that was started, with its shell's job control: Ctrl-Z stops it and
// never the monitor, which keeps the limits. The monitor is its child, leads the pty's session, and
// dies with it. While the relay asks, it carries nothing: the program can neither read what is
// typed nor write over the question, however it tries.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "terminal/keyboard_modes.h"
#include "terminal/message.h"
#include "terminal/question_lock.h"
#include "terminal/user_terminal.h"
#include "trace/arbiter.h"

namespace bulkhead {

class TerminalRelay {
 public:
  // `signals`: a signalfd of what is to reach the program; these are blocked.
  TerminalRelay(UserTerminal terminal, Fd pty, Fd messages, Fd signals, pid_t monitor);

  // Returns at the monitor's end, with the terminal as it was.
  void run();
  // True where the person's last words were a key that ends programs: who ended by that signal has
  // ended as the whole job would have.
  bool interrupted_by_key() const { return interrupted_by_key_; }

 private:
  // What ended a question.
  enum class End { kAnswer, kNotAsked, kCancelled, kInterrupted, kStopped, kDisturbed };

  void step();
  void handle(const TerminalMessage& message);
  void handle(const signalfd_siginfo& signal);
  void pass_on(const signalfd_siginfo& signal) const;
  bool read_signal(signalfd_siginfo& signal) const;
  void send(TerminalMessage::What what, int number = 0) const;

  void read_keys();
  void write_keys();
  void read_output();
  void write_output();
  void show(std::string_view text);  // all of it
  void resize() const;
  void hang_up();

  bool take_keys();
  void program_stopped(int signal);
  void stop(int signal);
  void go_on();
  void place(bool with_terminal);

  void ask(const TerminalMessage& question);
  End put(const TerminalMessage& question, Answer& answer);
  std::optional<End> wait_for_quiet(std::chrono::steady_clock::time_point until);
  End ended(End end, std::string_view words = "\n");
  bool interrupt() const;
  bool wait_for_turn(std::chrono::steady_clock::time_point until);
  End read_answer(std::chrono::steady_clock::time_point until, Answer& answer);
  // nullopt: the question goes on.
  std::optional<End> handle_at_question(short messages, short signals);

  UserTerminal terminal_;
  Fd pty_, messages_, signals_;
  const pid_t monitor_;
  QuestionLock lock_;
  std::string keys_, output_;              // read on one side, not yet written on the other
  KeyboardModes keyboard_;                 // as the program has told the terminal
  bool carriage_returned_ = false;         // "\r" that may belong to a "\n"
  std::deque<TerminalMessage> postponed_;  // came at a question
  bool wants_keys_;
  bool has_modes_;    // the pty, those of the person's terminal
  int unplaced_ = 0;  // kForeground and kBackground that the monitor has not done yet
  bool others_ask_ = false;
  bool waits_for_keys_ = false;  // the program, while another of the job asks for a password
  bool others_read_ = false;     // others_have_keys(), at the last look
  bool hung_up_ = false, started_ = false, ended_ = false, gone_ = false;
  bool all_read_ = false;  // of the pty; closing it would hang up the monitor
  bool interrupted_by_key_ = false;
};

}  // namespace bulkhead
