// Leaves the compartment's cgroup, and with it the limits: opens the hierarchies' cgroup.procs for
// writing, and makes a cgroup of its own. Moves nothing.
// class: container escapes by a writable cgroup file system
// plain: say
// as: root
// flags: --read / --write / --unblock all
#include "attack.h"

static void act(const char* folder) {
  char path[8192];
  snprintf(path, sizeof path, "%s/cgroup.procs", folder);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd >= 0) effect("opened %s for writing", path);
  else refused(path);
  if (fd >= 0) close(fd);
  snprintf(path, sizeof path, "%s/attack-%d", folder, getpid());
  if (mkdir(path, 0755) == 0) {
    effect("made the cgroup %s", path);
    rmdir(path);
  } else {
    refused(path);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  FILE* mounts = fopen("/proc/self/mountinfo", "r");
  if (mounts == NULL) return 1;
  char line[4096], point[4096];
  int found = 0;
  while (fgets(line, sizeof line, mounts) != NULL) {
    if (strstr(line, " - cgroup") == NULL || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1) continue;
    found = 1;
    act(point);
  }
  if (!found && !inside()) needs("cgroup");
  return 0;
}
