// Makes a device node of the machine's disk in the workspace and opens the devices that root has.
// class: OS sandboxes: device nodes
// plain: say
// as: root
// journal: system mknod
#include "attack.h"
#include <sys/sysmacros.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct stat status;
  if (stat("/", &status) != 0) return 1;
  if (mknod("disk", S_IFBLK | 0600, status.st_dev) != 0) refused("mknod of the disk");
  const int disk = open("disk", O_RDONLY);
  if (disk >= 0) effect("opened the disk");
  if (mknod("memory", S_IFCHR | 0600, makedev(1, 1)) != 0) refused("mknod of memory");
  const int memory = open("memory", O_RDONLY);
  if (memory >= 0) effect("opened the machine's memory");
  unlink("disk");
  unlink("memory");
  // A device that anybody may have, under another name: harmless, but no compartment makes devices.
  if (mknod("null", S_IFCHR | 0666, makedev(1, 3)) == 0) effect("made a device");
  unlink("null");
  const char* devices[] = {"/dev/mem", "/dev/kmsg", "/dev/port", "/proc/kcore", "/proc/kmsg"};
  for (unsigned i = 0; i < sizeof devices / sizeof *devices; ++i) {
    const int fd = open(devices[i], O_RDONLY | O_NONBLOCK);
    if (fd >= 0) effect("opened %s", devices[i]);
    else refused(devices[i]);
  }
  return 0;
}
