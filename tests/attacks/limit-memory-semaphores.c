// Takes memory of the kernel's that no process maps: semaphores, 64 bytes each and 32,000 to a set.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
#include "attack.h"
#include <sys/ipc.h>
#include <sys/sem.h>

enum { kSets = 150, kEach = 32000 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int sets[kSets], count = 0;
  while (count < kSets && (sets[count] = semget(IPC_PRIVATE, kEach, IPC_CREAT | 0600)) >= 0) {
    ++count;
    nap(20);
  }
  if (count > 80) effect("%d sets of semaphores, of 2 MB", count);
  for (int i = 0; i < count; ++i) semctl(sets[i], 0, IPC_RMID);
  return 0;
}
