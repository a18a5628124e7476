// Fills the disk with small files, one page each: none of them is large.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
// inside: exit 119
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static char block[4096];
  unsigned made = 0;
  for (; made < 8192; ++made) {
    const int fd = open(text("small-%u", made), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, block, sizeof block) != sizeof block) break;
    close(fd);
    if (made % 128 == 0) nap(10);
  }
  nap(500);
  effect("%u files made", made);
  return 0;
}
