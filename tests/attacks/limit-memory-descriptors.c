// Takes the kernel's memory by descriptors: what is open behind each is in no process's numbers, and where
// the supervisor opened it, charged to that one's control group.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 32MiB
#include "attack.h"
#include <sys/eventfd.h>

enum { kProcesses = 6, kEach = 18000 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  most_descriptors();
  int told[2];
  if (pipe(told) != 0) refused("no pipe");
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child < 0) refused("no further process");
    if (child > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int made = 0;
    while (made < kEach && (i % 2 == 0 ? eventfd(0, 0) : open("allowed.txt", O_WRONLY)) >= 0) ++made;
    if (write(told[1], &made, sizeof made) != sizeof made) return 1;
    pause();
  }
  int all = 0;
  for (int i = 0, made = 0; i < kProcesses && read(told[0], &made, sizeof made) == sizeof made; ++i) all += made;
  nap(inside() ? 20000 : 100);  // as long as somebody who looks from time to time may need on a busy machine
  // 1.2 KB each: 130 MB, of which the kernel charges a control group some 50.
  if (all > 60000) effect("%d descriptors", all);
  else printf("%d descriptors only\n", all);
  return 0;
}
