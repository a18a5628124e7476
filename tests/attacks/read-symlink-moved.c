// Makes a symbolic link whose relative target is harmless where it is made, then renames it to
// where the same text points at the key.
// class: Node: symlinks made relative and renamed into place
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (mkdir("a", 0755) || mkdir("a/b", 0755) || mkdir("a/b/home", 0755)) refused("mkdir");
  if (symlink("../home/.ssh/id_rsa", "a/b/link") != 0) refused("symlink");
  if (rename("a/b/link", "link") != 0) refused("rename");
  read_path("link");
  if (link("a/b/link", "hard") != 0) refused("link of a symlink");
  read_path("hard");
  return 0;
}
