// Waits in a file that may only be read here, in a way that makes the kernel refuse to wake who waits there outside.
// class: OS sandboxes: calls on others that nobody checked
// plain: change
// flags: --read {RO}
// act: wait
#include "lock.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const uint32_t* words = words_of_others();
  const pid_t child = fork();
  if (child == 0) {
    static uint32_t own;
    if (syscall(SYS_futex, words, FUTEX_WAIT_REQUEUE_PI, words[0], NULL, &own, 0) != 0) refused("FUTEX_WAIT_REQUEUE_PI");
    _exit(0);
  }
  // Who is woken outside looks again, and waits behind us from then on.
  int ahead = 0;
  for (int i = 0; i < 200 && !ahead && waitpid(child, NULL, WNOHANG) == 0; ++i) {
    nap(20);
    ahead = syscall(SYS_futex, words, FUTEX_WAKE, 1) < 0 && errno == EINVAL;
  }
  printf("%s\n", ahead ? "ahead of all" : "not ahead");
  if (ahead) {
    close(open(text("%s/ready", fact("W")), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    for (int i = 0; i < 1000 && access(text("%s/seen", fact("W")), F_OK) != 0; ++i) nap(20);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
