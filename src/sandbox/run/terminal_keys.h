// TerminalKeys: what the keys of a terminal mean (termios(3), c_cc), and whether it changes letters
// on their way in or out.
//
// A program may set them, and others obey: with "n" as the key that erases, who types "no" at the
// next question has typed "o"; with a letter as the end of a line, or with lines that somebody else
// edits (EXTPROC), what the terminal itself replies is read as a line that nobody typed.
#pragma once

#include <termios.h>

#include <optional>

namespace bulkhead {

class TerminalKeys {
 public:
  // As they are now; nullopt where `terminal` is none. What is no control character, or begins what
  // terminals say by themselves, is nobody's key, but another program's doing: instead of it counts
  // what the kernel starts with.
  static std::optional<TerminalKeys> of(int terminal);
  // All modes of that moment, with these keys.
  const struct termios& start() const { return modes_; }
  // `modes` with these keys, and without EXTPROC, whoever set it.
  struct termios in(struct termios modes) const;
  // Sets them again; the terminal's other modes stay as they are.
  void restore(int terminal) const;

 private:
  explicit TerminalKeys(const struct termios& modes) : modes_(modes) {}
  struct termios modes_;
};

}  // namespace bulkhead
