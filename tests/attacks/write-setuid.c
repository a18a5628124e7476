// Leaves a program in the workspace that runs as its owner, or with capabilities, when the user's
// other account or a service starts it outside.
// class: OS sandboxes: setuid files and capabilities left behind
// plain: change
#include "attack.h"
#include <sys/xattr.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  put_file("planted", "#!/bin/sh\n");
  if (chmod("planted", 04755) != 0) refused("chmod");
  if (fchmod(open("planted", O_RDONLY), 06755) != 0) refused("fchmod");
  if (fchmodat(AT_FDCWD, "planted", 04755, 0) != 0) refused("fchmodat");
  if (open("created", O_CREAT | O_WRONLY, 04755) < 0) refused("open with a mode");
  if (mknod("made", S_IFREG | 04755, 0) != 0) refused("mknod with a mode");
  const unsigned capability[5] = {0x02000001, 0xffffffff, 0, 0xffffffff, 0};
  if (setxattr("planted", "security.capability", capability, sizeof capability, 0) != 0) refused("capability");
  return 0;
}
