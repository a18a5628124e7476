// Gives pipes one byte of huge pages each, and lets go of the pages: they stay, and are in no process. So do
// those of a file that is cut short then, which are as large on newer file systems.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <sys/sendfile.h>
#include <sys/uio.h>

enum { kPipes = 24, kSlots = 16, kPage = 2 << 20 };

static ssize_t by_splice(int from, off_t at, int to) {
  loff_t where = at;
  return splice(from, &where, to, NULL, 1, 0);
}
static ssize_t by_sendfile(int from, off_t at, int to) { return sendfile(to, from, &at, 1); }

static void keep_of_file(const char* name, ssize_t (*give)(int from, off_t at, int to)) {
  static char page[kPage];
  const int file = open("cached", O_RDWR | O_CREAT | O_TRUNC, 0600);
  int kept = 0;
  for (int i = 0; i < kPipes; ++i) {
    int ends[2];
    if (pipe(ends) != 0) return;
    for (int slot = 0; slot < kSlots - 1; ++slot) {
      if (ftruncate(file, 0) != 0 || pwrite(file, page, kPage, 0) != kPage) return refused("pwrite");
      if (give(file, kPage / 2, ends[1]) != 1) {
        refused(name);
        break;
      }
      ++kept;
    }
  }
  if (kept > 64) effect("%d pages of a file in pipes, by %s", kept, name);
  close(file);
  unlink("cached");
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
      if (kept == 0 && large_pages() < kPage >> 10 && !inside()) needs("transparent-huge-pages");
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
  keep_of_file("splice", by_splice);
  keep_of_file("sendfile", by_sendfile);
  return 0;
}
