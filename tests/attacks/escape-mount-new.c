// The same by the newer mount calls: a detached copy of the key's folder has no path at all.
// class: OS sandboxes: bind mounts; kernel: open_tree, move_mount, fsopen
// plain: leak
// as: root
// journal: system *
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int tree = (int)syscall(SYS_open_tree, AT_FDCWD, text("%s/.ssh", fact("HOME")), 1u /* OPEN_TREE_CLONE */);
  if (tree < 0) refused("open_tree");
  drain_and_close(openat(tree, "id_rsa", O_RDONLY), "openat in the detached tree");
  const int plain_tree = (int)syscall(SYS_open_tree, AT_FDCWD, text("%s/.ssh", fact("HOME")), 0u);
  if (plain_tree < 0) refused("open_tree without a copy");
  drain_and_close(openat(plain_tree, "id_rsa", O_RDONLY), "openat in the tree");
  const int fs = (int)syscall(SYS_fsopen, "tmpfs", 0u);
  if (fs < 0) refused("fsopen");
  else effect("fsopen");
  return 0;
}
