// Tries to outlive the supervisor: daemons in sessions of their own, deaf to signals, forking on.
// class: OS sandboxes: survivors of a killed supervisor
// plain: kill
// act: kill-supervisor
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int i = 0; i < 4; ++i) {
    if (fork() != 0) continue;
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    for (int s = 1; s < 65; ++s) signal(s, SIG_IGN);
    if (fork() != 0) _exit(0);
    for (int n = 0; n < 3000; ++n) {
      if (i == 3 && n % 10 == 0 && fork() != 0) _exit(0);  // one is never the same process for long
      nap(10);
      if (n == 10) put_file("ready", "");
    }
    _exit(0);
  }
  nap(30000);
  return 0;
}
