// Burns processor time in grandchildren whose parents are gone, so that nobody's count of children has them.
// class: OS sandboxes: limits kept by process, not by tree
// plain: say
// flags: --cpu-time 1s
// inside: exit 121
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int i = 0; i < 60; ++i) {
    int done[2];
    if (pipe(done) != 0) return 1;
    if (fork() == 0) {
      if (fork() == 0) {
        setsid();
        while (clock() < CLOCKS_PER_SEC / 20) continue;
      }
      _exit(0);
    }
    close(done[1]);
    char byte;
    (void)!read(done[0], &byte, 1);
    close(done[0]);
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
  effect("3 s of processor time");
  return 0;
}
