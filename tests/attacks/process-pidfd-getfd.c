// Takes an open file from a process outside.
// class: OS sandboxes: descriptors taken from others
// plain: leak
// journal: system *pidfd_getfd*
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  int process = -1;
  for (int i = 0, n = victims(pids); i < n; ++i) {
    process = (int)syscall(SYS_pidfd_open, pids[i], 0);
    const int file = (int)syscall(SYS_pidfd_getfd, process, number("OUTSIDER_FD"), 0);
    if (file < 0) {
      refused("pidfd_getfd");
      continue;
    }
    char buffer[256];
    const ssize_t got = pread(file, buffer, sizeof buffer, 0);
    if (got > 0) leak(buffer, (size_t)got);
    if (inside()) effect("took a descriptor of %d", pids[i]);
  }
  return 0;
}
