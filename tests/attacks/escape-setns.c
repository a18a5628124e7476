// Joins the namespaces of a process outside, by /proc and by a descriptor of the process.
// class: OS sandboxes: setns
// plain: say
// as: root
// journal: system *setns*
#include "attack.h"
#include <sched.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  for (int i = 0, n = victims(pids); i < n; ++i) {
    const int process = (int)syscall(SYS_pidfd_open, pids[i], 0);
    if (process < 0) refused("pidfd_open");
    else if (setns(process, CLONE_NEWNET) == 0) effect("joined a network namespace by a process's descriptor");
    else refused("setns of a process");
    const char* names[] = {"net", "mnt", "ipc", "user", "pid"};
    for (unsigned j = 0; j < sizeof names / sizeof *names; ++j) {
      const int space = open(text("/proc/%d/ns/%s", pids[i], names[j]), O_RDONLY);
      if (space < 0) refused(names[j]);
      else if (setns(space, 0) == 0) effect("joined the namespace %s of %d", names[j], pids[i]);
      else refused(text("setns %s", names[j]));
    }
  }
  return 0;
}
