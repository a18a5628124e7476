// Takes memory of the kernel's alone: terminals, some 40 KB each with what was typed and nobody reads.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

enum { kTerminals = 1600, kLeast = 800 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (most_descriptors() < 2 * kTerminals + 100) needs("many-descriptors");
  static char keys[4096];
  memset(keys, 'x', sizeof keys);
  int count = 0;
  for (; count < kTerminals; ++count) {
    const int other = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    int zero = 0;
    unsigned name = 0;
    if (other < 0 || ioctl(other, TIOCSPTLCK, &zero) != 0 || ioctl(other, TIOCGPTN, &name) != 0) {
      refused("/dev/ptmx");
      break;
    }
    if (open(text("/dev/pts/%u", name), O_RDWR | O_NOCTTY | O_CLOEXEC) < 0) {
      refused("/dev/pts");
      break;
    }
    for (int i = 0; i < 4; ++i)
      if (write(other, keys, sizeof keys) < 0) break;
  }
  nap(inside() ? 500 : 0);
  if (count >= kLeast) effect("%d terminals", count);
  return 0;
}
