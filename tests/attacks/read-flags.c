// Opens the key with every combination of access modes and flags: one that the guard judges as
// something else than reading would do. Mode 3 ("for ioctl") is among them.
// class: OS sandboxes: flags that the guard reads otherwise than the kernel
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int extras[] = {O_APPEND, O_CLOEXEC, O_DIRECT, O_DSYNC, O_EXCL, O_NOATIME, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_ASYNC, 0x40000000};
  for (unsigned set = 0; set < 1u << (sizeof extras / sizeof *extras); ++set)
    for (int mode = 0; mode < 4; ++mode) {
      if (mode == O_WRONLY) continue;
      int flags = mode;
      for (unsigned i = 0; i < sizeof extras / sizeof *extras; ++i)
        if (set >> i & 1) flags |= extras[i];
      const int fd = open(fact("KEY"), flags);
      if (fd < 0) continue;
      char part[4096] __attribute__((aligned(4096)));
      const ssize_t n = read(fd, part, sizeof part);
      if (n > 0) leak(part, (size_t)n);
      if (mode == 3) effect("opened the key for ioctl");
      close(fd);
    }
  return 0;
}
