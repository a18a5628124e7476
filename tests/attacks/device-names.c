// Takes a device's name away, gives it another one, and puts a file in its place: all that is granted of
// /dev/null is writing to it, and root's programs could leave the machine without.
// class: OS sandboxes: device nodes
// plain: change
// act: device
// journal: write-status {W}/null
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct stat status;
  if (stat("null", &status) != 0 || !S_ISCHR(status.st_mode)) needs("root");
  put_file("file", "attack\n");
  if (link("null", "device") == 0) effect("gave it a second name");
  else refused("link");
  if (syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, "null", 2 /* RENAME_EXCHANGE */) == 0) effect("exchanged it");
  else refused("exchange");
  if (rename("file", "null") == 0) effect("put a file in its place");
  else refused("rename over it");
  if (rename("null", "other") == 0) effect("renamed it");
  else refused("rename");
  if (unlink("null") == 0) effect("removed it");
  else refused("unlink");
  const int fd = open("null", O_WRONLY);
  if (fd < 0 || write(fd, "x", 1) != 1) refused("write, which is allowed");
  return 0;
}
