// Reads the key through symbolic links in the workspace: to the file, to its folder, in chains.
// class: Node, Deno: symlinks inside an allowed root
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *key = fact("KEY"), *home = fact("HOME");
  if (symlink(key, "to-key") != 0) refused("symlink to the key");
  if (symlink(home, "to-home") != 0) refused("symlink to the home");
  if (symlink("../home/.ssh", "relative") != 0) refused("relative symlink");
  if (symlink("to-home/.ssh", "chain") != 0) refused("chain");
  read_path("to-key");
  read_path("to-home/.ssh/id_rsa");
  read_path("relative/id_rsa");
  read_path("chain/id_rsa");
  read_path("to-home/../home/.ssh/id_rsa");
  read_path(text("%s/sub/../chain/./id_rsa", fact("W")));
  drain_and_close(openat(open("chain", O_PATH | O_DIRECTORY), "id_rsa", O_RDONLY), "through a descriptor of the link's folder");
  drain_and_close(openat(open("to-key", O_PATH), "", O_RDONLY), "an empty path");
  return 0;
}
