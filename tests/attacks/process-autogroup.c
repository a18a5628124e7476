// Lowers the priority of the whole session that it was started in, the user's shell and bulkhead among
// it: the scheduler groups processes by session, and each may set its group's.
// class: OS sandboxes: other processes
// plain: say
// flags: --write /proc
// journal: write /proc/*/autogroup
#include "attack.h"

static int priority(void) {
  char said[64] = {0};
  int nice = 0;
  const int fd = open("/proc/self/autogroup", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, said, sizeof said - 1) <= 0 || !strstr(said, "nice")) return 0;
  sscanf(strstr(said, "nice"), "nice %d", &nice);
  close(fd);
  return nice;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (!inside()) {
    if (access("/proc/self/autogroup", F_OK) != 0) needs("autogroups");
    // Not the session of whoever runs the tests.
    if (fork() != 0) return wait(NULL) < 0;
    setsid();
  }
  const int before = priority();
  put_file("/proc/self/autogroup", text("%d", before == 7 ? 8 : 7));
  if (priority() != before) effect("the session's priority is another");
  nap(200);  // so often may it be changed
  if (priority() != before) put_file("/proc/self/autogroup", text("%d", before));
  return 0;
}
