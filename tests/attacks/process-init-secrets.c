// Looks at the parent and at pid 1, which hold what bulkhead was started with: descriptors, the
// unfiltered environment, the mount table, what bulkhead told its init, in memory and in files.
// class: OS sandboxes: the sandbox's own helper process as the way out
// plain: leak
#include "attack.h"
#include <sys/ptrace.h>
#include <sys/uio.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const pid_t pids[] = {inside() ? getppid() : (pid_t)number("OUTSIDER"), inside() ? 1 : (pid_t)number("OUTSIDER")};
  for (int i = 0; i < 2; ++i) {
    read_path(text("/proc/%d/environ", pids[i]));
    const char* const files[] = {"mem", "maps", "smaps", "exe", "auxv", "pagemap", "syscall", "stack", "cwd/.", "root/.",
                                 "map_files/."};
    for (size_t f = 0; f < sizeof files / sizeof *files; ++f) {
      const int file = open(text("/proc/%d/%s", pids[i], files[f]), O_RDONLY | O_NONBLOCK);
      char byte = 0;
      // Some are opened by anybody, and tell nothing.
      if (file >= 0 && (read(file, &byte, 1) == 1 || errno == EISDIR)) effect("read /proc/%d/%s", pids[i], files[f]);
    }
    char bytes[64];
    const struct iovec ours = {bytes, sizeof bytes}, theirs = {(void*)0x400000, sizeof bytes};
    if (process_vm_readv(pids[i], &ours, 1, &theirs, 1, 0) > 0) effect("read the memory of %d", pids[i]);
    if (ptrace(PTRACE_SEIZE, pids[i], NULL, NULL) == 0) effect("traces %d", pids[i]);
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
