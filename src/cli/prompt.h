// TerminalAsker: puts a question to the person at the terminal.
//
// The program shares the supervisor's process group and so, mostly, the terminal's foreground. It
// is kept still, with whoever else of the job could read or write there (Stillness); where that
// fails nothing is asked. A child in a process group of its own then takes the foreground and asks:
// those who started us do not read the answer, and Ctrl-C at the question is told from others. What
// was typed before the question was visible is thrown away. Keys mean what they meant before the
// program started: no letter ends a line or erases one. Afterwards the terminal's modes and its
// foreground group are put back, and the job goes on.
//
// The terminal may be taken from the child: by another run of the same job as it ends, by a shell.
// From their own job it is taken back, a shell keeps it; either way the question ends in its time.
//
// What this does not stop: a program that drew something misleading before the question, and other
// jobs of the terminal, which may print beside it. The question starts on a line of its own, seen
// as it is whatever the terminal was told before (plain_screen), and nothing in it is the program's
// to write unescaped.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "sandbox/run/suspension.h"
#include "sandbox/run/terminal_keys.h"
#include "trace/arbiter.h"

struct termios;

namespace bulkhead {

class Stillness;

// What is shown, without the line that asks for the key: escaped, wrapped, at most 20 lines of
// resource (the middle of a longer one is left out, and that is said).
std::string question_text(const Question& question, size_t width);

// nullopt: not one of the keys. An empty line is kNo.
std::optional<Answer> parse_answer(std::string_view line);

class TerminalAsker final : public Asker {
 public:
  struct Options {
    std::string lock_file;  // one question at a time on this account's terminals; empty: no lock
    std::chrono::milliseconds patience{60'000};  // for an answer, and for other runs' questions
    unsigned most = 20;                          // questions in a run; further ones are not asked
    Suspension* suspension = nullptr;            // by which Ctrl-Z stops the job; null: it does not
  };

  // An error where there is no terminal to ask on. Before the program starts: see keys_.
  static Result<std::unique_ptr<TerminalAsker>> open(Options options);
  ~TerminalAsker() override;
  TerminalAsker(const TerminalAsker&) = delete;
  TerminalAsker& operator=(const TerminalAsker&) = delete;

  // kNotAsked where there have been too many questions, nobody is there, the job cannot be kept
  // still, or another run's question stays open for too long.
  Answer ask(const Question& question) override;
  void cancel() noexcept override;
  bool asking() const noexcept override { return asking_.load(); }

 private:
  TerminalAsker(Options options, Fd terminal, TerminalKeys keys, Fd wake_read, Fd wake_write);
  std::optional<Answer> ask_in_turn(const Question& question);
  std::optional<Fd> wait_for_turn() const;
  char ask_by_child(const Question& question, pid_t foreground, Stillness& still);
  char next_report(int reports, pid_t child, const struct termios& modes, Stillness& still) const;

  Options options_;
  Fd terminal_;
  TerminalKeys keys_;          // before the program could set them
  Fd wake_read_, wake_write_;  // written by cancel(), never read: stays readable
  std::mutex one_at_a_time_;
  std::atomic<bool> asking_ = false;
  std::atomic<bool> cancelled_ = false;
  std::atomic<unsigned> asked_ = 0;
};

}  // namespace bulkhead
