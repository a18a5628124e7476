// Reads the key through the magic links of the process's own /proc.
// class: Deno, OS sandboxes: /proc/self/root, /proc/self/cwd, thread-self, task
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* key = fact("KEY");
  const int tid = (int)syscall(SYS_gettid);
  read_path(text("/proc/self/root%s", key));
  read_path(text("/proc/thread-self/root%s", key));
  read_path(text("/proc/%d/root%s", getpid(), key));
  read_path(text("/proc/self/task/%d/root%s", tid, key));
  read_path(text("/proc/self/root/proc/self/root/proc/self/../self/root%s", key));
  if (symlink("/proc/self/root", "root") != 0) refused("symlink");
  read_path(text("root%s", key));
  read_path("/proc/self/cwd/../home/.ssh/id_rsa");
  if (chdir(text("%s/.ssh", fact("HOME"))) != 0) refused("chdir");
  read_path("/proc/self/cwd/id_rsa");
  read_path("/proc/thread-self/cwd/id_rsa");
  read_path(text("/proc/1/root%s", key));
  drain_and_close(openat(open("/proc/self/root", O_PATH | O_DIRECTORY), key + 1, O_RDONLY), "from a descriptor of root");
  return 0;
}
