// A fork bomb, with a fuse for the plain run.
// class: OS sandboxes: fork bombs
// plain: say
// flags: --processes 32
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int alive = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nap(3000);
      _exit(0);
    }
    if (child > 0) ++alive;
  }
  printf("%d alive at once\n", alive);
  if (alive > 64) effect("%d processes at once", alive);
  return 0;
}
