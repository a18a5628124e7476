// Fills /tmp, which is memory in a compartment, with pipes: each name is an object of the kernel's, and one
// that the supervisor makes, so that a control group of the program's is not charged for it.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kFiles = 90000 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* folder = text("%s/names-%d", inside() ? "/tmp" : "/dev/shm", getpid());
  if (mkdir(folder, 0700) != 0 || chdir(folder) != 0) return 1;
  int made = 0;
  for (; made < kFiles; ++made) {
    if (mknod(text("%d", made), S_IFIFO | 0600, 0) != 0) break;
    if (made % 1000 == 0) nap(10);
  }
  if (made < kFiles) refused("a file");
  if (made > 80000) effect("%d files, of 1 KiB each", made);
  for (int i = 0; i < made; ++i) unlink(text("%d", i));
  rmdir(folder);
  return 0;
}
