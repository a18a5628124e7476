// TerminalMonitor: the process that supervises, beside the relay at the person's terminal
// (relay.h). It leads the session of the program's terminal, so it says which of the program's
// process groups has that: one has as long as the relay has the person's keys.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "terminal/message.h"
#include "terminal/user_terminal.h"
#include "trace/arbiter.h"

namespace bulkhead {

class TerminalMonitor {
 public:
  // Forks, so call it while there is one thread. In the parent the relay begins, which does not
  // return: it ends as the child ends. Returns in the child, which has no terminal but the
  // program's; 0 to 2 are what they were.
  static Result<std::unique_ptr<TerminalMonitor>> begin(UserTerminal terminal);
  ~TerminalMonitor();
  TerminalMonitor(const TerminalMonitor&) = delete;
  TerminalMonitor& operator=(const TerminalMonitor&) = delete;

  // What the program has as 0 to 2: its own terminal instead of the person's, and the rest as it
  // is.
  Stdio stdio() const;
  // False where there is nobody to ask: this is no session's terminal.
  bool may_ask() const { return terminal_.controls(); }
  int person() const { return terminal_.fd(); }  // their terminal, to look at

  // The program is about to run; returns once it has the terminal that it begins with. `lock_file`
  // is locked while a question is open.
  void started(pid_t program, const std::string& lock_file);
  // The program has stopped. It is continued when the person's shell continues the job.
  void stopped(int signal);
  // Puts a question: what question_text() says. kNobody once cancel() was called.
  Answer ask(const std::string& text, std::chrono::milliseconds patience);
  void cancel() noexcept;
  void say(const std::string& text);
  // Every process of the program's has ended. Returns when all that they wrote is on the person's
  // terminal, and that is as it was.
  void finish() noexcept;

 private:
  TerminalMonitor(UserTerminal terminal, Fd program_end, Fd messages);
  void listen();
  pid_t program_group() const;  // -1: none
  void go_on(bool with_terminal);
  void take_terminal();  // from the program
  void redraw() const;
  void send(TerminalMessage::What what, int number = 0, const std::string& text = {}) const;

  UserTerminal terminal_;
  Fd program_end_;  // of the pty
  Fd messages_;
  const pid_t relay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  pid_t program_ = 0;     // 0: none yet
  pid_t foreground_ = 0;  // the program's group that had the terminal last
  std::optional<Answer> answer_;
  bool stop_told_ = false;  // since the program went on
  bool placed_ = false, shown_ = false, gone_ = false, cancelled_ = false, finished_ = false;
  std::thread listening_;
};

}  // namespace bulkhead
