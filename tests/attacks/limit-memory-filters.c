// Takes the kernel's memory, and the machine's share of it for compiled programs, by filters of system calls.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 150MiB
// journal: system seccomp
#include "attack.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>

enum { kThreads = 200, kLong = 4096, kEach = 7 };

static int made, refusals, begun;

static void* install(void* filter) {
  for (int i = 0; i < kEach; ++i) {
    // Both ways to the same.
    const long done = i % 2 ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter)
                            : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter);
    __atomic_add_fetch(done == 0 ? &made : &refusals, 1, __ATOMIC_SEQ_CST);
  }
  __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
  pause();
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static struct sock_filter code[kLong];
  for (int i = 0; i < kLong; ++i) code[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
  code[kLong - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  static struct sock_fprog filter = {kLong, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refused("no new privileges");
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384 + 65536);
  int threads = 0;
  for (pthread_t thread; threads < kThreads && pthread_create(&thread, &small, install, &filter) == 0;) ++threads;
  for (int i = 0; i < 300 && __atomic_load_n(&begun, __ATOMIC_SEQ_CST) < threads; ++i) nap(100);
  printf("%d threads, %d filters, %d refused\n", threads, made, refusals);
  if (made > 1200) effect("%d filters", made);
  return 0;
}
