// Stops itself, so that the supervisor stops with it, as a shell expects; a timer continues it while nobody looks.
// class: OS sandboxes: limits kept by process, not by tree
// plain: say
// flags: --cpu-time 1s
// inside: exit 121
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
  const struct itimerspec each = {{0, 300 * 1000 * 1000}, {0, 300 * 1000 * 1000}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &each, NULL) != 0) refused("a timer");
  raise(SIGSTOP);
  while (clock() < 3 * CLOCKS_PER_SEC) continue;
  effect("3 s of processor time");
  return 0;
}
