// Hangs attributes on files in memory: nothing counts what a memfd has of them, and a compartment's are set
// by the supervisor, so that a control group of the program's is not charged for any.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <sys/xattr.h>

enum { kFiles = 4, kEach = 800, kSize = 65536, kMuch = 128 << 20 };

// Bytes that could be hung on the file.
static size_t fill(int file) {
  static char value[kSize];
  size_t all = 0;
  for (int i = 0; i < kEach; ++i) {
    if (fsetxattr(file, text("user.%d", i), value, sizeof value, 0) != 0) {
      refused("an attribute");
      break;
    }
    all += sizeof value;
  }
  return all;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  size_t of_memfds = 0, of_files = 0;
  for (int i = 0; i < kFiles; ++i) of_memfds += fill(memfd_create("attributes", 0));
  if (of_memfds == 0 && !inside()) needs("attributes of files in memory");
  nap(inside() ? 1000 : 0);
  if (of_memfds > kMuch) effect("%zu MiB of memfds' attributes", of_memfds >> 20);
  for (int i = 0; i < kFiles; ++i) {
    const char* name = text("%s/attributes-%d-%d", inside() ? "/tmp" : "/dev/shm", getpid(), i);
    const int file = open(name, O_RDWR | O_CREAT, 0600);
    if (!inside()) unlink(name);  // who is killed leaves nothing on the machine
    of_files += fill(file);
  }
  nap(inside() ? 1000 : 0);
  if (of_files > kMuch) effect("%zu MiB of files' attributes", of_files >> 20);
  return 0;
}
