// Fills the disk without writing a byte: a folder takes a block of it, as does a long link, or an attribute.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
// inside: exit 119
#include "attack.h"
#include <sys/xattr.h>

enum { kEach = 2048 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static char block[3000];
  memset(block, 'a', sizeof block - 1);
  for (int i = 100; i < (int)sizeof block - 1; i += 100) block[i] = '/';
  int made = 0;
  for (int i = 0; i < kEach; ++i) {
    made += mkdir(text("folder-%d", i), 0700) == 0;
    made += symlink(block, text("link-%d", i)) == 0;
    const int fd = open(text("file-%d", i), O_RDWR | O_CREAT, 0600);
    made += fsetxattr(fd, "user.block", block, sizeof block, 0) == 0;
    close(fd);
    if (i % 64 == 0) nap(10);
  }
  nap(500);
  effect("%d blocks taken", made);
  return 0;
}
