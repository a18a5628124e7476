// Fills /tmp, which is memory in a compartment, with pipes: each name is an object of the kernel's, and one
// that the supervisor makes, so that a control group of the program's is not charged for it.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <dirent.h>

enum { kFiles = 90000 };

// What earlier ones left that were killed.
static void remove_leftovers(void) {
  DIR* shared = opendir("/dev/shm");
  for (struct dirent* entry; shared && (entry = readdir(shared));) {
    int pid = 0;
    if (sscanf(entry->d_name, "names-%d", &pid) != 1 || kill(pid, 0) == 0 || errno != ESRCH) continue;
    const int folder = openat(dirfd(shared), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (int i = 0; folder >= 0 && i < kFiles; ++i) unlinkat(folder, text("%d", i), 0);
    if (folder >= 0) close(folder);
    unlinkat(dirfd(shared), entry->d_name, AT_REMOVEDIR);
  }
  if (shared) closedir(shared);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (!inside()) remove_leftovers();
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
