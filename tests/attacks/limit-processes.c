// A fork bomb, with a fuse for the plain run: by fork, and by clone in ways that are no fork to a parent.
// class: OS sandboxes: fork bombs
// plain: say
// flags: --processes 32
#include "attack.h"
#include <sched.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int alive = 0;
  for (int i = 0; i < 300; ++i) {
    const long ways[] = {SIGCHLD, 0, SIGCHLD | CLONE_PARENT, SIGUSR1, CLONE_FILES | CLONE_FS};
    const pid_t child = (pid_t)syscall(SYS_clone, ways[i % 5], 0, 0, 0, 0);
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
