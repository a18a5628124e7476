// Lists the key's folder and reads a link's target there: names and targets are content.
// class: OS sandboxes: readdir and readlink that nobody checked
// plain: leak
// journal: read {HOME}/.ssh
// journal: read {HOME}/.ssh/link
#include "attack.h"
#include <dirent.h>

static void list(int fd) {
  DIR* folder = fd < 0 ? NULL : fdopendir(fd);
  if (!folder) {
    refused("list");
    return;
  }
  for (struct dirent* entry; (entry = readdir(folder));) leak(entry->d_name, strlen(entry->d_name));
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* ssh = text("%s/.ssh", fact("HOME"));
  list(open(ssh, O_RDONLY | O_DIRECTORY));
  list(open(ssh, O_RDONLY));
  const int path_only = open(ssh, O_PATH | O_DIRECTORY);
  list(openat(path_only, ".", O_RDONLY));
  list(open(text("/proc/self/fd/%d", path_only), O_RDONLY));
  char buffer[4096];
  if (syscall(SYS_getdents64, path_only, buffer, sizeof buffer) > 0) effect("listed an O_PATH descriptor");
  ssize_t n = readlink(text("%s/link", ssh), buffer, sizeof buffer);
  if (n > 0) leak(buffer, (size_t)n);
  else refused("readlink");
  const int link = openat(path_only, "link", O_PATH | O_NOFOLLOW);
  n = readlinkat(link, "", buffer, sizeof buffer);
  if (n > 0) leak(buffer, (size_t)n);
  else refused("readlinkat of a descriptor");
  n = readlinkat(path_only, "link", buffer, sizeof buffer);
  if (n > 0) leak(buffer, (size_t)n);
  else refused("readlinkat");
  return 0;
}
