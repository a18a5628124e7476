#include "sandbox/run/terminal_keys.h"

#include <sys/ttydefaults.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

namespace bulkhead {
namespace {

constexpr tcflag_t kLettersIn = ISTRIP | IUCLC;
constexpr tcflag_t kLettersOut = OLCUC;

// The keys, and what the kernel starts with.
constexpr std::pair<int, cc_t> kDefaults[] = {{VINTR, CINTR},
                                              {VQUIT, CQUIT},
                                              {VERASE, CERASE},
                                              {VKILL, CKILL},
                                              {VEOF, CEOF},
                                              {VSTART, CSTART},
                                              {VSTOP, CSTOP},
                                              {VSUSP, CSUSP},
                                              {VREPRINT, CRPRNT},
                                              {VDISCARD, CDISCARD},
                                              {VWERASE, CWERASE},
                                              {VLNEXT, CLNEXT},
                                              {VEOL, _POSIX_VDISABLE},
                                              {VEOL2, _POSIX_VDISABLE}};

bool is_key(cc_t c) { return (c < ' ' || c == 127) && c != '\n' && c != '\r' && c != '\033'; }

tcflag_t with(tcflag_t flags, tcflag_t others, tcflag_t which) {
  return (flags & ~which) | (others & which);
}

}  // namespace

std::optional<TerminalKeys> TerminalKeys::of(int terminal) {
  struct termios modes = {};
  if (::tcgetattr(terminal, &modes) != 0) return std::nullopt;
  for (const auto& [which, instead] : kDefaults)
    if (!is_key(modes.c_cc[which])) modes.c_cc[which] = instead;
  return TerminalKeys(modes);
}

struct termios TerminalKeys::in(struct termios modes) const {
  for (size_t i = 0; i < NCCS; ++i)
    if (i != VMIN && i != VTIME) modes.c_cc[i] = modes_.c_cc[i];  // those two are no keys
  modes.c_iflag = with(modes.c_iflag, modes_.c_iflag, kLettersIn);
  modes.c_oflag = with(modes.c_oflag, modes_.c_oflag, kLettersOut);
  modes.c_lflag &= ~static_cast<tcflag_t>(EXTPROC);
  return modes;
}

void TerminalKeys::restore(int terminal) const {
  struct termios now = {};
  if (::tcgetattr(terminal, &now) != 0) return;
  const struct termios restored = in(now);
  (void)::tcsetattr(terminal, TCSANOW, &restored);
}

}  // namespace bulkhead
