// Does nothing for longer than it may, deaf to every signal.
// class: OS sandboxes: limits that a program can ignore
// plain: say
// flags: --wall-time 1s
// inside: exit 124
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int s = 1; s < 65; ++s) signal(s, SIG_IGN);
  nap(4000);
  effect("slept for 4 s");
  return 0;
}
