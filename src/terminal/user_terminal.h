// UserTerminal: the terminal that a person started bulkhead at, and the modes that it is left in.
//
// No program of a compartment gets a descriptor of it: that has a terminal of its own (relay.h).
#pragma once

#include <termios.h>

#include <array>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

using TerminalModes = struct termios;

// True where this process has a terminal, whatever its descriptors are: a person could be asked.
bool is_terminal_there();

class UserTerminal {
 public:
  // This process's terminal; where it has none, the first that a standard descriptor is. nullopt
  // where there is neither.
  static Result<std::optional<UserTerminal>> find();

  int fd() const { return fd_.get(); }  // nobody else's description, and never waits
  // Whether the standard descriptor is this terminal. Another one that somebody put there on
  // purpose (`> /dev/pts/7`) is theirs to give.
  bool is(int standard) const { return is_it_[static_cast<size_t>(standard)]; }
  // False where there is nobody's job control, as in a session without terminal.
  bool controls() const { return controls_; }
  // Where nobody else of the job is likely to read it (`… | less`, `… < file`): then its keys are
  // ours from the start, and not when the program first wants some.
  bool offers_keys() const { return offers_keys_; }
  // True where our job has it, or there are no jobs.
  bool has_foreground() const;
  // The person's own modes, where `knows_modes()`; else what somebody had set while another job had
  // the terminal, a shell's line editor say.
  const TerminalModes& modes() const { return start_; }
  bool knows_modes() const { return knows_start_; }
  bool is_hung_up() const;

  // Keys go to us as they are typed, and none has a meaning. False where another job has it, or
  // another program of the job may be reading what nobody is to see.
  bool take_keys();
  bool may_take_keys() const;
  // The modes of before take_keys(); where another job has the terminal they are its own affair.
  void give_back_keys();
  bool has_keys() const { return before_.has_value(); }
  // Whether another program of the job has set modes beside ours, as one does that asks for a
  // password: keys are that one's until it has set them back.
  bool others_have_keys() const;
  // Another of the job asks for a line that is not to be seen.
  bool others_hide_keys() const;
  // Whether a key interrupts or quits by the person's own modes.
  bool interrupts(cc_t key) const {
    return key != _POSIX_VDISABLE && (key == start_.c_cc[VINTR] || key == start_.c_cc[VQUIT]);
  }

  // For a question: from now on nothing that is typed is echoed or makes a line; Ctrl-C and, where
  // a shell would see the stop, Ctrl-Z are signals.
  bool shut_line();
  // Then: lines that nothing but Enter ends, with the letters that were typed.
  bool open_line();
  // Whether it is still so. Otherwise what is read there may be lines that nobody typed.
  bool has_line() const;
  // The modes of before shut_line(), without what was typed beyond the answer.
  void give_back_line(const TerminalModes& before);

 private:
  UserTerminal() = default;
  TerminalModes raw_modes(const TerminalModes& modes) const;
  TerminalModes line_modes() const;
  bool has_modes(const TerminalModes& ours) const;
  void see_start(const TerminalModes& now);
  // Sets `before` again, unless a shell that has taken the terminal meanwhile has set others.
  void give_back(const TerminalModes& before, const TerminalModes& ours, int when) const;

  Fd fd_;
  std::array<bool, 3> is_it_{};
  bool controls_ = false;
  bool offers_keys_ = false;
  bool stops_ = false;  // Ctrl-Z at a question does
  bool open_ = false;   // open_line()
  bool knows_start_ = false;
  TerminalModes start_ = {};             // as they were when our job first had the terminal
  std::optional<TerminalModes> before_;  // take_keys()
};

}  // namespace bulkhead
