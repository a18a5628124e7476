// Takes memory that belongs to no process: files in memory (memfd, /dev/shm, /tmp of a compartment), written
// and never mapped, and the buffers of sockets and pipes.
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
  int taken = 0;
  const int memory = memfd_create("x", 0);
  char* shm = (char*)text("/dev/shm/%s", fact("MARK"));
  char* tmp = (char*)text("/tmp/%s", fact("MARK"));
  const int files[] = {memory, open(shm, O_RDWR | O_CREAT, 0600), inside() ? open(tmp, O_RDWR | O_CREAT, 0600) : -1};
  unlink(shm);
  unlink(tmp);
  for (int i = 0; i < 150; ++i) {
    for (int j = 0; j < 3; ++j)
      if (files[j] >= 0 && write(files[j], block, sizeof block) == sizeof block) ++taken;
    nap(10);
  }
  nap(1000);
  printf("%d MiB taken\n", taken);
  if (taken > 128) effect("%d MiB in files of memory", taken);
  return 0;
}
