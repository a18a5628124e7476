// Reads the key by every plain way of opening a file.
// class: all: keys read from the home directory
// plain: leak
// journal: read {KEY}
#include "attack.h"
#include <linux/openat2.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* key = fact("KEY");
  drain_and_close((int)syscall(SYS_open, key, O_RDONLY), "open");
  drain_and_close((int)syscall(SYS_openat, AT_FDCWD, key, O_RDONLY), "openat");
  // A wrong directory descriptor does not matter for an absolute path.
  drain_and_close((int)syscall(SYS_openat, -77, key, O_RDONLY), "openat, no directory");
  drain_and_close((int)syscall(SYS_openat, 0xffffffff00000000UL + (unsigned)AT_FDCWD, key, O_RDONLY), "openat, high bits");
  const uint64_t resolve[] = {0, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS, RESOLVE_CACHED, RESOLVE_NO_XDEV};
  for (unsigned i = 0; i < sizeof resolve / sizeof *resolve; ++i) {
    struct open_how how = {.flags = O_RDONLY, .resolve = resolve[i]};
    drain_and_close((int)syscall(SYS_openat2, AT_FDCWD, key, &how, sizeof how), "openat2");
  }
  const int root = open("/", O_PATH | O_DIRECTORY);
  struct open_how in_root = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
  drain_and_close((int)syscall(SYS_openat2, root, key, &in_root, sizeof in_root), "openat2 in root");
  return 0;
}
