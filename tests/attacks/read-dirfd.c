// Opens the key relative to a directory descriptor that was allowed, upwards and sideways.
// class: OS sandboxes: openat relative to a descriptor outside; Node: path traversal
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int work = open(fact("W"), O_RDONLY | O_DIRECTORY);
  drain_and_close(openat(work, "../home/.ssh/id_rsa", O_RDONLY), "from the workspace upwards");
  const int path_only = open(fact("HOME"), O_PATH | O_DIRECTORY);
  drain_and_close(openat(path_only, ".ssh/id_rsa", O_RDONLY), "from an O_PATH descriptor of the home");
  const int deep = openat(path_only, ".ssh", O_PATH);
  drain_and_close(openat(deep, "id_rsa", O_RDONLY), "from an O_PATH descriptor of .ssh");
  if (chdir(text("%s/.ssh", fact("HOME"))) != 0) refused("chdir");
  drain_and_close(open("id_rsa", O_RDONLY), "from the working folder");
  drain_and_close(openat(open(".", O_PATH), "./id_rsa", O_RDONLY), "from a descriptor of the working folder");
  if (fchdir(path_only) != 0) refused("fchdir");
  drain_and_close(open(".ssh/id_rsa", O_RDONLY), "after fchdir");
  return 0;
}
