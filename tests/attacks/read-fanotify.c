// Watches the whole file system with fanotify, which hands out descriptors of what others open.
// class: kernel: watches of the whole machine
// plain: say
// as: root
// journal: system *fanotify*
#include "attack.h"
#include <sys/fanotify.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = (int)syscall(SYS_fanotify_init, FAN_CLASS_NOTIF, O_RDONLY);
  if (fd < 0) refused("fanotify_init");
  else if (syscall(SYS_fanotify_mark, fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN, AT_FDCWD, "/") != 0) refused("fanotify_mark");
  else effect("watches every open of the machine");
  return 0;
}
