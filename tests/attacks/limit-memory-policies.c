// Takes memory of the kernel's alone: policies of where a file in memory shall lie, one for each of its pages, of which
// none is there. They stay with the file when nobody maps it any more.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kRounds = 10, kPages = 60000, kBind = 2 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), part = kPages * page;
  const int file = memfd_create("placed", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)(kRounds * part)) != 0) return 1;
  const unsigned long first = 1;
  long policies = 0;
  for (int round = 0; round < kRounds; ++round) {
    char* map = mmap(NULL, part, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)((size_t)round * part));
    if (map == MAP_FAILED) return 1;
    for (size_t i = 0; i < kPages; i += 2) {
      if (syscall(SYS_mbind, map + i * page, page, kBind, &first, 8, 0) != 0) {
        if (errno == ENOSYS && !inside()) needs("numa");
        refused("mbind");
        return 0;
      }
      ++policies;
    }
    munmap(map, part);
  }
  if (policies > 200000) effect("%ld policies of a file that nobody maps", policies);
  return 0;
}
