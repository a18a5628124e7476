// Limits the compartment's first process, bulkhead's own, so that the kernel ends it, and takes its time on
// processors, so that a wall time of 1 s took 30: nothing ends before it does. Plainly it is a process outside.
// class: OS sandboxes: calls on others that nobody checked
// plain: kill
// journal: system *prlimit64*
// inside: exit 0
#include "attack.h"
#include <sched.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const pid_t victim = inside() ? 1 : (pid_t)number("OUTSIDER");
  cpu_set_t processors;
  if (sched_getaffinity(victim, sizeof processors, &processors) != 0) refused("which processors");
  if (sched_setaffinity(victim, sizeof processors, &processors) == 0 && inside()) effect("sets its processors");
  // As the kernel reads it: size, policy, and what is 0 for SCHED_OTHER.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t deadline[3];
  } attributes = {.size = 48, .policy = SCHED_OTHER, .nice = 1};
  if (syscall(SYS_sched_setattr, victim, &attributes, 0) == 0 && inside()) effect("sets its nice value by sched_setattr");
  if (setpriority(PRIO_PROCESS, (id_t)victim, 17) == 0 && inside()) effect("sets its nice value");
  if (inside() && setpriority(PRIO_USER, 0, 18) == 0) effect("sets its nice value by its user");
  if (inside() && setpriority(PRIO_PGRP, 1, 19) == 0) effect("sets its nice value by its group");
  const int idle = 3 << 13;
  // From within the group that it leads.
  if (inside() && setpgid(0, 1) == 0) {
    if (setpriority(PRIO_PGRP, 0, 19) == 0) effect("sets its nice value by its own group");
    if (syscall(SYS_ioprio_set, 2, 0, idle) == 0) effect("sets its I/O priority by its own group");
    setpgid(0, 0);
  }
  for (int which = 1; inside() && which <= 3; ++which)
    if (syscall(SYS_ioprio_set, which, which == 3 ? (int)getuid() : 1, idle) == 0) effect("sets its I/O priority (%d)", which);
  const struct sched_param parameter = {0};
  if (sched_setparam(victim, &parameter) == 0 && inside()) effect("sets its parameter");
  if (sched_setscheduler(victim, SCHED_IDLE, &parameter) == 0 && inside()) effect("sets its scheduler");
  // The number's upper half is nothing to the kernel.
  const long numbers[] = {victim, victim | 1L << 32};
  for (int i = 0; i < 2; ++i)
    for (int what = 0; what < RLIM_NLIMITS; ++what) {
      const struct rlimit none = {0, 0};
      if (syscall(SYS_prlimit64, numbers[i], what, &none, NULL) != 0) refused("prlimit64");
      else if (inside()) effect("sets its limit %d", what);
    }
  return 0;
}
