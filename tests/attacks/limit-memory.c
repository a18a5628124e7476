// Takes 400 MiB, a MiB at a time, in one process and shared with another.
// class: vm2, OS sandboxes: allocation before the cap is checked
// plain: say
// flags: --memory 64MiB
// inside: exit 120
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  size_t taken = 0;
  for (int i = 0; i < 400; ++i) {
    char* at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | (i % 2 ? MAP_SHARED : MAP_PRIVATE), -1, 0);
    if (at == MAP_FAILED) break;
    memset(at, 1, 1 << 20);
    taken += 1;
    if (i % 16 == 0) nap(10);
  }
  nap(500);
  effect("%zu MiB taken", taken);
  return 0;
}
