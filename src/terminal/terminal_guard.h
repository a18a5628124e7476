// TerminalGuard: gives a terminal its modes back where a signal that nobody handles ends this
// process, which has other modes set there (SIGXCPU of a shell's ulimit, say). SIGKILL excepted.
#pragma once

#include <termios.h>

namespace bulkhead {

// From now on until leave_terminal(), at `fd`, which stays open: `modes`. For a process of one
// thread. Signals that have a handler, are ignored or stop are left alone.
void guard_terminal(int fd, const struct termios& modes);
void leave_terminal();

}  // namespace bulkhead
