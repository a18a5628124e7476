// Changes mode and times of /dev/null, which every program may write to: a compartment that ends must
// not leave the machine with another one. Sets what is set already, so that the plain run harms nobody.
// class: OS sandboxes: device nodes; Node: operations on descriptors
// plain: say
// as: root
// journal: write-status /dev/null
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct stat status;
  if (stat("/dev/null", &status) != 0) return 1;
  const int fd = open("/dev/null", O_WRONLY);
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  if (chmod("/dev/null", status.st_mode & 07777) == 0) effect("changed the mode of /dev/null");
  else refused("chmod");
  if (fchmod(fd, status.st_mode & 07777) == 0) effect("changed it by descriptor");
  else refused("fchmod");
  if (chown("/dev/null", status.st_uid, status.st_gid) == 0) effect("changed its owner");
  else refused("chown");
  if (futimens(fd, times) == 0) effect("changed its times");
  else refused("futimens");
  if (write(fd, "x", 1) != 1) refused("write, which is allowed");
  return 0;
}
