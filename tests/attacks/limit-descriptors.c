// Opens more descriptors than it may, after trying to lift the limit.
// class: OS sandboxes: descriptor exhaustion
// plain: say
// flags: --files 64
#include "attack.h"
#include <sys/resource.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct rlimit more = {4096, 4096};
  if (setrlimit(RLIMIT_NOFILE, &more) != 0) refused("setrlimit");
  if (prlimit(0, RLIMIT_NOFILE, &more, NULL) != 0) refused("prlimit");
  int n = 0;
  while (n < 500 && open("allowed.txt", O_RDONLY) >= 0) ++n;
  if (n >= 500) effect("%d descriptors", n);
  printf("%d descriptors\n", n);
  return 0;
}
