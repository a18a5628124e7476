// Changes the root so that the key gets another name.
// class: OS sandboxes: chroot, pivot_root
// plain: leak
// as: root
// journal: system *chroot*
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (chroot(fact("HOME")) != 0) refused("chroot");
  read_path("/.ssh/id_rsa");
  if (syscall(SYS_pivot_root, ".", ".") != 0) refused("pivot_root");
  return 0;
}
