// Builds a forbidden name by parts: makes a tree under a free name, then renames it to where its
// content gets the blocked name; links and exchanges likewise.
// class: Node: links made harmless and renamed into place; OS sandboxes: renames of ancestors
// plain: change
#include "attack.h"
#include <linux/fs.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (mkdir("sub/free", 0755) || mkdir("sub/free/hooks", 0755)) refused("mkdir");
  put_file("sub/free/hooks/pre-commit", "planted");
  put_file("sub/free/config", "planted");
  if (rename("sub/free", "sub/.git") != 0) refused("rename into place");
  if (mkdir("sub/b", 0755) || mkdir("sub/b/.git", 0755)) refused("mkdir .git");
  if (mkdir("sub/b/free", 0755)) refused("mkdir");
  put_file("sub/b/free/pre-commit", "planted");
  if (rename("sub/b/free", "sub/b/.git/hooks") != 0) refused("rename of hooks into place");
  put_file("sub/c", "planted");
  if (rename("sub/c", "sub/b/.git/config") != 0) refused("rename of a file into place");
  if (link("sub/file.txt", "sub/b/.git/config") != 0) refused("link into place");
  if (syscall(SYS_renameat2, AT_FDCWD, "sub/b/free", AT_FDCWD, "sub/b/.git", RENAME_EXCHANGE) != 0) refused("exchange");
  // The workspace's own: away, changed under the free name, and back.
  if (rename(".git", "away") != 0) refused("rename of .git");
  put_file("away/hooks/pre-commit", "planted");
  put_file("away/config", "planted");
  if (rename("away", ".git") != 0) refused("rename back");
  if (rename(fact("W"), text("%s/moved", fact("BASE"))) != 0) refused("rename of the workspace");
  // A second name for a blocked file, then a change through that.
  if (link(".git/config", "second") == 0) put_file("second", "planted through a link");
  else refused("link of a blocked file");
  if (symlink(".git", "sub/s") == 0) put_file("sub/s/hooks/pre-commit", "planted through a symlink");
  if (symlink("hooks-elsewhere", ".git/hooks/link") != 0) refused("symlink in hooks");
  const int hooks = open(".git/hooks", O_PATH | O_DIRECTORY);
  const int fd = openat(hooks, "post-commit", O_CREAT | O_WRONLY, 0755);
  if (fd < 0) refused("from a descriptor of hooks");
  return 0;
}
