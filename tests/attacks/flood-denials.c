// Reads the key, then tries up to 100,000 other forbidden files, so that the journal overflows and forgets.
// class: OS sandboxes: journal floods
// plain: leak
// journal: read {KEY}
// journal: size 64
// inside: exit 0
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  read_path(fact("KEY"));
  // A busy machine has time for fewer, of which the journal takes few anyway.
  const time_t end = time(NULL) + 60;
  for (int i = 0; i < 100000 && time(NULL) < end; ++i) {
    const int fd = open(text("%s/absent-%d", fact("OUTSIDE"), i), O_RDONLY | O_CREAT * inside(), 0600);
    if (fd >= 0) close(fd);
  }
  return 0;
}
