// Takes memory of the kernel's alone: what it keeps to undo a thread's semaphore operations, as long as the set has
// semaphores, for each thread that shares it with no other.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <sched.h>
#include <sys/ipc.h>
#include <sys/sem.h>

enum { kSets = 8, kEach = 32000, kThreads = 240, kStack = 16384 };

static int sets[kSets];

static int keep(void* nothing) {
  for (int i = 0; i < kSets; ++i) {
    struct sembuf one = {0, 1, SEM_UNDO};
    if (semop(sets[i], &one, 1) != 0) refused("semop");
  }
  while (!nothing) pause();
  return 0;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int i = 0; i < kSets; ++i) sets[i] = semget(IPC_PRIVATE, kEach, IPC_CREAT | 0600);
  int threads = 0;
  for (; threads < kThreads; ++threads) {
    char* stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int shared = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    if (stack == MAP_FAILED || clone(keep, stack + kStack, shared, NULL) < 0) break;
    nap(2);
  }
  nap(inside() ? 20000 : 200);  // as long as somebody who looks from time to time may need on a busy machine
  if (threads == kThreads) effect("%d threads keep %d KB of a set each", threads, kSets * kEach * 2 / 1000);
  for (int i = 0; i < kSets; ++i) semctl(sets[i], 0, IPC_RMID);
  _exit(0);
}
