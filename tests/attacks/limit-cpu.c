// Burns processor time in children that live for a moment, so that none has used much.
// class: OS sandboxes: limits kept by process, not by tree
// plain: say
// flags: --cpu-time 1s
// inside: exit 121
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int i = 0; i < 60; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      while (clock() < CLOCKS_PER_SEC / 20) continue;
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  effect("3 s of processor time");
  return 0;
}
