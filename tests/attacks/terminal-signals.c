// Has the terminal signal its foreground group, where bulkhead and who started it are, by a signal of the
// attack's choice: SIGSTOP at the next key. Landlock holds such signals back, but in kernels 6.15 and
// later without a fix; here, what counts is that the terminal has got an owner, or another signal.
// class: OS sandboxes: signals out of the compartment
// plain: say
// act: terminal
// journal: system fcntl
// journal: system ioctl
#include "attack.h"

static int has_owner(int terminal) {
  struct f_owner_ex owner = {0};
  // Inside, a group of the outside has the number 0.
  return fcntl(terminal, F_GETOWN_EX, &owner) == 0 && owner.type == F_OWNER_PGRP;
}

static void attempt(int terminal, const char* where) {
  if (fcntl(terminal, F_SETSIG, SIGSTOP) == 0) effect("the signal of %s is SIGSTOP", where);
  const int on = 1;
  if (ioctl(terminal, FIOASYNC, &on) != 0) refused("FIOASYNC");
  if (has_owner(terminal)) effect("%s has an owner by FIOASYNC", where);
  const int flags = fcntl(terminal, F_GETFL);
  if (fcntl(terminal, F_SETFL, flags | O_ASYNC) != 0) refused("O_ASYNC");
  if (has_owner(terminal)) effect("%s has an owner", where);
  fcntl(terminal, F_SETFL, flags & ~O_ASYNC);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  attempt(0, "the terminal");
  const int other = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (other >= 0) attempt(other, "/dev/tty");
  return 0;
}
