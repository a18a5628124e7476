#include "sandbox/terminal_keys.h"

#include <cstddef>

namespace bulkhead {
namespace {

constexpr tcflag_t kLettersIn = ISTRIP | IUCLC;
constexpr tcflag_t kLettersOut = OLCUC;

tcflag_t with(tcflag_t flags, tcflag_t others, tcflag_t which) {
  return (flags & ~which) | (others & which);
}

}  // namespace

std::optional<TerminalKeys> TerminalKeys::of(int terminal) {
  struct termios modes = {};
  if (::tcgetattr(terminal, &modes) != 0) return std::nullopt;
  return TerminalKeys(modes);
}

struct termios TerminalKeys::in(struct termios modes) const {
  for (size_t i = 0; i < NCCS; ++i)
    if (i != VMIN && i != VTIME) modes.c_cc[i] = modes_.c_cc[i];  // those two are no keys
  modes.c_iflag = with(modes.c_iflag, modes_.c_iflag, kLettersIn);
  modes.c_oflag = with(modes.c_oflag, modes_.c_oflag, kLettersOut);
  return modes;
}

void TerminalKeys::restore(int terminal) const {
  struct termios now = {};
  if (::tcgetattr(terminal, &now) != 0) return;
  const struct termios restored = in(now);
  (void)::tcsetattr(terminal, TCSANOW, &restored);
}

}  // namespace bulkhead
