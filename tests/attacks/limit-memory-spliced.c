// Gives pipes one byte of huge pages each, and lets go of the pages: they stay, and are in no process.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <sys/uio.h>

enum { kPipes = 24, kSlots = 16, kPage = 2 << 20 };

// KiB of huge pages that the process has.
static long huge(void) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "re");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "AnonHugePages: %ld", &found);
  if (file) fclose(file);
  return found;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char* map = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 1;
  char* page = (char*)(((uintptr_t)map + kPage - 1) / kPage * kPage);
  madvise(page, kPage, MADV_HUGEPAGE);
  int kept = 0;
  for (int i = 0; i < kPipes; ++i) {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    for (int slot = 0; slot < kSlots; ++slot) {
      memset(page, 'x', kPage);
      if (kept == 0 && huge() < kPage >> 10 && !inside()) needs("transparent-huge-pages");
      const struct iovec byte = {page, 1};
      if (vmsplice(ends[1], &byte, 1, 0) != 1) {
        refused("vmsplice");
        break;
      }
      ++kept;
      madvise(page, kPage, MADV_DONTNEED);
    }
    nap(10);
  }
  nap(inside() ? 1000 : 0);
  if (kept > 64) effect("%d MiB of huge pages in pipes", 2 * kept);
  return 0;
}
