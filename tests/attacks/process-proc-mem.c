// Reads the memory of processes outside by /proc/PID/mem.
// class: OS sandboxes: /proc/PID/mem
// plain: leak
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  for (int i = 0, n = victims(pids); i < n; ++i) {
    const int fd = open(text("/proc/%d/mem", pids[i]), O_RDWR);
    char buffer[256];
    if (fd < 0) {
      refused("open");
      continue;
    }
    if (inside()) effect("opened the memory of %d", pids[i]);
    const ssize_t got = pread(fd, buffer, sizeof buffer, number("ADDRESS"));
    if (got > 0) leak(buffer, (size_t)got);
  }
  return 0;
}
