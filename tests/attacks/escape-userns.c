// Makes a user namespace, where it has every capability, in each way that there is: unshare, clone, clone3.
// class: OS sandboxes: namespaces; kernel: clone3 hides its flags from a filter
// plain: say
// journal: system *
#include "attack.h"
#include <linux/sched.h>
#include <sched.h>

static void report(long child, const char* how) {
  if (child < 0) {
    refused(how);
    return;
  }
  if (child == 0) _exit(0);
  waitpid((pid_t)child, NULL, 0);
  effect("a new user namespace by %s", how);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct clone_args arguments = {.flags = CLONE_NEWUSER | CLONE_NEWNS, .exit_signal = SIGCHLD};
  report(syscall(SYS_clone3, &arguments, sizeof arguments), "clone3");
  report(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), "clone");
  const unsigned long flags[] = {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 /* NEWTIME */};
  for (unsigned i = 0; i < sizeof flags / sizeof *flags; ++i)
    if (flags[i] != 0x80) report(syscall(SYS_clone, CLONE_NEWUSER | flags[i] | SIGCHLD, 0, 0, 0, 0), "clone with another namespace");
  // The upper half of the register does not count for the kernel, so it must not for the filter.
  report(syscall(SYS_clone, 0xdead00000000UL | CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), "clone with high bits");
  if (syscall(SYS_unshare, 0xdead00000000UL | CLONE_NEWUSER) == 0) effect("unshare with high bits");
  else refused("unshare with high bits");
  if (unshare(CLONE_NEWUSER) == 0) effect("unshare");
  else refused("unshare");
  return 0;
}
