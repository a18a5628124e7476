// Makes a hard link to the key in the workspace and reads that; by path, by descriptor, by /proc.
// class: OS sandboxes: hard links to protected files
// plain: leak
// journal: * {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* key = fact("KEY");
  if (link(key, "one") != 0) refused("link");
  read_path("one");
  const int fd = open(key, O_PATH);
  if (linkat(fd, "", AT_FDCWD, "two", AT_EMPTY_PATH) != 0) refused("linkat of a descriptor");
  read_path("two");
  if (linkat(AT_FDCWD, text("/proc/self/fd/%d", fd), AT_FDCWD, "three", AT_SYMLINK_FOLLOW) != 0) refused("linkat through /proc");
  read_path("three");
  if (symlink(key, "soft") != 0) refused("symlink");
  if (linkat(AT_FDCWD, "soft", AT_FDCWD, "four", AT_SYMLINK_FOLLOW) != 0) refused("linkat through a symlink");
  read_path("four");
  return 0;
}
