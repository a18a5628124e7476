// Takes a GiB in one call, which has it all before anybody measures again.
// class: vm2, OS sandboxes: allocation before the cap is checked
// plain: say
// flags: --memory 64MiB
// inside: exit 0
#include "attack.h"

// The kernel must say no by itself: whoever is measured and ended (exit 120) had the memory first.
int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const size_t size = 1 << 30;
  const void* at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) refused("mmap");
  else effect("%zu MiB taken at once", size >> 20);
  return 0;
}
