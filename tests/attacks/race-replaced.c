// Reads a blocked file while its owner outside writes it anew by renaming over it: for a moment the
// file that was opened has no name any more, and a guard that goes by the name judges another one.
// class: OS sandboxes: a race between the check and the use of a path
// plain: leak
// act: replace
// flags: --read {HOME}
// journal: read {HOME}/.netrc
#include "race.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* path = text("%s/.netrc", fact("HOME"));
  const char* relative = ".netrc";
  if (chdir(fact("HOME")) != 0) refused("chdir");
  for (int i = 0; race_goes_on(i, 20000); ++i) {
    const int fd = open(i % 2 ? path : relative, O_RDONLY);
    if (fd < 0) continue;
    drain(fd);
    close(fd);
    break;
  }
  return 0;
}
