// Changes the priority, limits, processors and memory advice of processes outside; by their number, and
// by the process group and user, whose members outside the kernel does not always leave out. (Of pid 1:
// process-init-limits.)
// class: OS sandboxes: calls on others that nobody checked
// plain: kill
// act: group
#include "attack.h"
#include <sched.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (setpriority(PRIO_PGRP, 0, 15) != 0) refused("nice of the group");
  if (setpriority(PRIO_PGRP, getpgrp(), 16) != 0) refused("nice of the group by number");
  if (setpriority(PRIO_USER, 0, 14) != 0) refused("nice of the user");
  if (syscall(SYS_ioprio_set, 2 /* group */, 0, 3 << 13) != 0) refused("ioprio of the group");
  const pid_t pids[] = {(pid_t)number("OUTSIDER")};
  for (int i = 0; i < 1; ++i) {
    struct rlimit limit = {64, 64};
    if (prlimit(pids[i], RLIMIT_NOFILE, &limit, NULL) == 0 && inside()) effect("limits of %d", pids[i]);
    if (setpriority(PRIO_PROCESS, (id_t)pids[i], 17) == 0 && inside()) effect("nice of %d", pids[i]);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(pids[i], sizeof one, &one) == 0 && inside()) effect("processors of %d", pids[i]);
    struct sched_param parameter = {0};
    if (sched_setscheduler(pids[i], SCHED_IDLE, &parameter) == 0 && inside()) effect("scheduler of %d", pids[i]);
    const int process = (int)syscall(SYS_pidfd_open, pids[i], 0);
    if (process >= 0 && syscall(SYS_process_mrelease, process, 0) == 0) effect("memory of %d", pids[i]);
  }
  return 0;
}
