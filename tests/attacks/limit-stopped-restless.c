// Stops itself while another never comes to rest, so that whoever stops with it looks at nothing else for long.
// class: OS sandboxes: limits kept by process, not by tree
// plain: say
// flags: --memory 100MiB
// inside: exit 120
#include "attack.h"

enum { kMost = 400 << 20, kStep = 4 << 20, kTimers = 4000 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const pid_t first = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Each fires once: one that repeats ends with a signal of it that a stop takes back.
    for (int i = 1; i <= kTimers; ++i) {
      struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
      const struct itimerspec once = {{0, 0}, {i / 1000, i % 1000 * 1000 * 1000}};
      timer_t timer;
      if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &once, NULL) != 0) refused("a timer");
    }
    nap(200);
    for (size_t used = 0; used < kMost; used += kStep) {
      char* const more = mmap(NULL, kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (more == MAP_FAILED) _exit(1);
      for (size_t i = 0; i < kStep; i += 4096) more[i] = 1;
      if (used >= 250 << 20 && used % (50 << 20) < kStep) effect("%zu MiB in memory", used >> 20);
      usleep(10 * 1000);
    }
    kill(first, SIGCONT);
    _exit(0);
  }
  nap(100);  // until the timers go
  raise(SIGSTOP);
  while (wait(NULL) > 0) continue;
  return 0;
}
