// Reads and writes in a folder whose name begins with the workspace's.
// class: spelling: /foo2 as a prefix sibling of /foo; Node: radix-tree matches
// plain: leak
// journal: read {SIBLING}/secret.txt
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  read_path(text("%s/secret.txt", fact("SIBLING")));
  read_path(text("%s-evil/secret.txt", fact("W")));
  put_file(text("%s/new.txt", fact("SIBLING")), "new");
  return 0;
}
