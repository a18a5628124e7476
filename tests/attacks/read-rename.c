// Moves the key into the workspace, exchanges it with a file there, and moves its folder.
// class: OS sandboxes: renames over and of protected files
// plain: leak
// journal: write {KEY}
#include "attack.h"
#include <linux/fs.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* key = fact("KEY");
  if (syscall(SYS_renameat2, AT_FDCWD, key, AT_FDCWD, "allowed.txt", RENAME_EXCHANGE) != 0) refused("exchange");
  read_path("allowed.txt");
  if (rename(key, "mine") != 0) refused("rename");
  read_path("mine");
  if (rename(text("%s/.ssh", fact("HOME")), "folder") != 0) refused("rename of the folder");
  read_path("folder/id_rsa");
  return 0;
}
