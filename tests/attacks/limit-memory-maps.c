// Takes memory of the kernel's alone: what it keeps of each map. A process may have 65,530, a quarter of a KB each,
// without a page in them, and a fork copies all.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kMaps = 65000, kProcesses = 20 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const long page = sysconf(_SC_PAGESIZE);
  char* map = mmap(NULL, (size_t)kMaps * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return 1;
  long maps = 0;
  for (; maps < kMaps - 1000; maps += 2)
    if (mprotect(map + maps * page, page, PROT_READ) != 0) break;
  pid_t children[kProcesses];
  int started = 0;
  for (; started < kProcesses; ++started) {
    children[started] = fork();
    if (children[started] < 0) break;
    if (children[started] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  }
  nap(inside() ? 20000 : 0);  // as long as somebody who looks from time to time may need on a busy machine
  if (started == kProcesses) effect("%d processes of %ld maps", started, maps);
  while (started > 0) kill(children[--started], SIGKILL);
  return 0;
}
