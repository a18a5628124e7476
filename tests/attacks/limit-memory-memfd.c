// Takes memory that belongs to no process: a file in memory that has no name, written and never mapped; the
// buffers of sockets and pipes, filled and never read.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
#include "attack.h"
#include <sys/socket.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static char block[1 << 20];
  memset(block, 1, sizeof block);
  int taken = 0, buffered = 0;
  const int memory = memfd_create("x", 0);
  for (int i = 0; i < 300; ++i) {
    if (write(memory, block, sizeof block) == sizeof block) ++taken;
    nap(10);
  }
  for (int i = 0; i < 400; ++i) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) break;
    const ssize_t n = write(pair[0], block, sizeof block);
    if (n > 0) buffered += (int)(n >> 10);
  }
  nap(1000);
  printf("%d MiB taken, %d KiB in buffers\n", taken, buffered);
  if (taken > 128) effect("%d MiB in a file of memory", taken);
  return 0;
}
