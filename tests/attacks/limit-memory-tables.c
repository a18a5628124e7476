// Takes memory of the kernel's alone: tables of pages that hold nothing. One byte read in each 2 MiB of an empty
// map costs a page of tables, and none of the process's own.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kSteps = 160 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const size_t step = (size_t)1 << 30;  // 2 MiB of tables
  char* map = mmap(NULL, kSteps * step, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    refused("a large map");
    return 0;
  }
  madvise(map, kSteps * step, MADV_NOHUGEPAGE);
  volatile char sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    for (size_t at = 0; at < step; at += 2 << 20) sum += map[i * step + at];
    nap(10);
  }
  effect("%d MiB of page tables", 2 * kSteps);
  return 0;
}
