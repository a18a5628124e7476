// Fills the disk without writing: by fallocate in many files, each smaller than the limit.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  long blocks = 0;
  for (int i = 0; i < 16; ++i) {
    const int fd = open(text("fill-%d", i), O_RDWR | O_CREAT, 0600);
    struct stat status;
    if (fd < 0 || fallocate(fd, 0, 0, 7 << 20) != 0) refused("fallocate");
    if (fd >= 0 && fstat(fd, &status) == 0) blocks += status.st_blocks;
    nap(100);
  }
  printf("%ld MiB allocated\n", blocks >> 11);
  if (blocks >> 11 > 32) effect("%ld MiB of disk", blocks >> 11);
  return 0;
}
