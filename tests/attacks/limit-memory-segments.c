// Takes memory that no process maps: System V segments, each let go of as soon as it is full.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
// inside: exit 120
#include "attack.h"
#include <sys/ipc.h>
#include <sys/shm.h>

enum { kSegments = 30, kSize = 10 << 20 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int segments[kSegments], count = 0;
  while (count < kSegments) {
    const int id = shmget(IPC_PRIVATE, kSize, IPC_CREAT | 0600);
    if (id < 0) break;
    segments[count++] = id;
    char* at = shmat(id, NULL, 0);
    if (at == (char*)-1) break;
    memset(at, 1, kSize);
    shmdt(at);
    nap(20);
  }
  if (count * 10 > 128) effect("%d MiB in segments", count * 10);
  for (int i = 0; i < count; ++i) shmctl(segments[i], IPC_RMID, NULL);
  return 0;
}
