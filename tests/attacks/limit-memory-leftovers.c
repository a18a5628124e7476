// Takes large pages and gives back all of each but a small one: the large page stays whole, and the small one is all
// that is seen.
// class: OS sandboxes: memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kPages = 160, kSize = 2 << 20, kSmall = 4096 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char* map = mmap(NULL, (size_t)(kPages + 1) * kSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return 1;
  char* page = (char*)(((uintptr_t)map + kSize - 1) / kSize * kSize);
  prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  madvise(page, (size_t)kPages * kSize, MADV_HUGEPAGE);
  int kept = 0;
  for (int i = 0; i < kPages; ++i, page += kSize) {
    *page = 'x';
    if (large_pages() >= kSize >> 10) ++kept;
    if (i == 0 && kept == 0 && !inside()) needs("transparent-huge-pages");
    madvise(page + kSmall, kSize - kSmall, MADV_DONTNEED);
    nap(5);
  }
  nap(inside() ? 500 : 0);
  if (kept > 48) effect("%d MiB of large pages, of which %d KiB are seen", 2 * kept, kept * kSmall / 1024);
  return 0;
}
