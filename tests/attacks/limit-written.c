// Fills the disk by writing to a handful of files.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
// inside: exit 119
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static char block[1 << 20];
  size_t written = 0;
  for (int i = 0; i < 64; ++i) {
    const int fd = open(text("fill-%d", i % 8), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, block, sizeof block) < 0) break;
    ++written;
    fsync(fd);
    close(fd);
    nap(20);
  }
  nap(500);
  effect("%zu MiB written", written);
  return 0;
}
