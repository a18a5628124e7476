// Takes memory in huge pages, which the machine has a fixed number of for all, and no limit counts.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 8MiB
#include "attack.h"
#include <sys/shm.h>

#define SIZE (8UL << 21)

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int any = 0;
  char* const own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (own == MAP_FAILED) refused("mmap");
  else memset(own, 1, SIZE), effect("%lu MiB by mmap", SIZE >> 20), any = 1;
  if (own != MAP_FAILED) munmap(own, SIZE);
  const int file = memfd_create("huge", MFD_HUGETLB);
  char* const shared = file < 0 || ftruncate(file, SIZE) != 0 ? MAP_FAILED
                                                              : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) refused("memfd_create");
  else memset(shared, 1, SIZE), effect("%lu MiB by memfd_create", SIZE >> 20), any = 1;
  if (shared != MAP_FAILED) munmap(shared, SIZE);
  if (file >= 0) close(file);
  const int segment = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | SHM_HUGETLB | 0600);
  if (segment < 0) refused("shmget");
  else shmctl(segment, IPC_RMID, NULL), effect("a segment by shmget"), any = 1;
  if (!any && !inside()) needs("huge-pages");
  return 0;
}
