// Fills the disk through a shared map, with no call that writes.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
// inside: exit 119
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const size_t part = 1 << 20, size = 64 * part;
  const int fd = open("mapped", O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) return 1;
  char* at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return 1;
  for (size_t done = 0; done < size; done += part) {
    memset(at + done, 1, part);
    nap(20);
  }
  msync(at, size, MS_SYNC);
  nap(500);
  effect("%zu MiB written", size >> 20);
  return 0;
}
