// Waits with many threads for one descriptor that stands in the list as often as a process may have descriptors:
// the kernel keeps 72 bytes of each while they wait, and a thread needs no list of its own.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <poll.h>
#include <pthread.h>
#include <sys/select.h>

enum { kThreads = 24, kLeast = 4096 };

static struct pollfd* list;
static unsigned long* set;
static long entries;
static int returned;

static void* wait_for_all(void* how) {
  const char* name = how;
  if (!strcmp(name, "poll")) syscall(SYS_poll, list, entries, -1);
  if (!strcmp(name, "ppoll")) syscall(SYS_ppoll, list, entries, NULL, NULL, 0);
  if (!strcmp(name, "select")) syscall(SYS_select, entries, set, NULL, NULL, NULL);
  if (!strcmp(name, "pselect6")) syscall(SYS_pselect6, entries, set, NULL, NULL, NULL, NULL);
  refused(name);
  __atomic_fetch_add(&returned, 1, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const rlim_t most = most_descriptors();
  entries = most < 100000 ? (long)most : 100000;
  if (entries < kLeast) needs("many-descriptors");
  list = calloc((size_t)entries, sizeof *list);
  set = calloc((size_t)entries / 64 + 1, sizeof *set);
  for (long i = 0; i < entries; ++i) list[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
  // The table must be as long as the set, and what is waited for be open.
  for (int fd = 3000; fd < kLeast; ++fd) {
    if (dup2(ends[0], fd) < 0) return 1;
    set[fd / 64] |= 1UL << fd % 64;
  }
  if (dup2(ends[0], (int)entries - 1) < 0) return 1;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  static const char* const kCalls[] = {"poll", "ppoll", "select", "pselect6"};
  for (int call = 0; call < 4; ++call) {
    returned = 0;
    for (int i = 0; i < kThreads; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, &small, wait_for_all, (void*)kCalls[call]) != 0) return 1;
    }
    nap(500);
    const int waiting = kThreads - __atomic_load_n(&returned, __ATOMIC_RELAXED);
    if (waiting > 0) effect("%d threads wait by %s for %ld descriptors", waiting, kCalls[call], entries);
  }
  _exit(0);
}
