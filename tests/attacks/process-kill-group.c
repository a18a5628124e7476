// Signals its process group, which a shell's pipeline and the supervisor share: kill(0), killpg,
// and SIGIO addressed to the group of a descriptor's owner. Says nothing afterwards where it dies
// by its own hand, as it should.
// class: OS sandboxes: kill of the supervisor
// plain: kill
// act: group
// inside: signal 9
#include "attack.h"
#include <sys/socket.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  signal(SIGUSR1, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGIO, SIG_IGN);  // which it is inside, of a group of its own
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  // A signal of our choice to the whole group whenever the socket becomes readable.
  if (fcntl(pair[0], F_SETOWN, -getpgrp()) != 0) refused("F_SETOWN of the group");
  if (fcntl(pair[0], F_SETSIG, SIGUSR1) != 0) refused("F_SETSIG");
  fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK);
  (void)!write(pair[1], "x", 1);
  struct { int type; pid_t pid; } owner = {2 /* F_OWNER_PGRP */, getpgrp()};
  if (fcntl(pair[0], F_SETOWN_EX, &owner) != 0) refused("F_SETOWN_EX");
  (void)!write(pair[1], "x", 1);
  if (kill(0, SIGTERM) != 0) refused("kill(0)");
  if (killpg(getpgrp(), SIGTERM) != 0) refused("killpg");
  nap(100);
  (void)!kill(0, SIGKILL);
  return 0;
}
