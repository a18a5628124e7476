// Signals processes outside in every way that names a process.
// class: OS sandboxes: kill of the supervisor; Node: process._debugProcess
// plain: kill
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  for (int i = 0, n = victims(pids); i < n; ++i) {
    siginfo_t info = {.si_code = SI_QUEUE};
    const int process = (int)syscall(SYS_pidfd_open, pids[i], 0);
    const int calls[] = {
        kill(pids[i], SIGSTOP),
        (int)syscall(SYS_tkill, pids[i], SIGSTOP),
        (int)syscall(SYS_tgkill, pids[i], pids[i], SIGSTOP),
        (int)syscall(SYS_rt_sigqueueinfo, pids[i], SIGUSR1, &info),
        (int)syscall(SYS_pidfd_send_signal, process, SIGUSR1, NULL, 0),
        kill(pids[i], SIGKILL),
    };
    for (unsigned j = 0; j < sizeof calls / sizeof *calls; ++j)
      if (calls[j] == 0) printf("signal %u to %d was sent\n", j, pids[i]);
  }
  return 0;
}
