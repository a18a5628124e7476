// Writes to every other terminal that it finds in /dev/pts: those of the user's other windows.
// class: OS sandboxes: other terminals
// plain: say
// act: terminal
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  // Plain, its own terminal by number stands for another's: it is the runner's, made outside.
  const char* mine = inside() ? "" : ttyname(0);
  if (mine && *mine) {
    const int fd = open(mine, O_WRONLY | O_NOCTTY);
    if (fd >= 0) effect("opened %s", mine);
  }
  for (int i = 0; inside() && i < 64; ++i) {
    const int fd = open(text("/dev/pts/%d", i), O_WRONLY | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && !(ttyname(0) && !strcmp(ttyname(0), text("/dev/pts/%d", i)))) effect("opened /dev/pts/%d", i);
  }
  return 0;
}
