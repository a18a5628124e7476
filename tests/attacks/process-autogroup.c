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

// Ten times a second is all that the kernel takes of those without a capability, of all of them together.
static void set_priority(int nice) {
  const int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  for (int i = 0; fd >= 0 && i < 50; ++i) {
    if (write(fd, text("%d", nice), strlen(text("%d", nice))) > 0 || errno != EAGAIN) break;
    nap(70);
  }
  if (fd < 0) refused("/proc/self/autogroup");
  close(fd);
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
  set_priority(before == 7 ? 8 : 7);
  if (priority() != before) effect("the session's priority is another");
  if (priority() != before) set_priority(before);
  return 0;
}
