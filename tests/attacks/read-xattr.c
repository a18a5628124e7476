// Reads what hangs on the key in an extended attribute, by each call and spelling that there is.
// class: OS sandboxes: Landlock and file modes aside, attributes are read without opening
// plain: leak
// flags: --write {WO}
// journal: read {KEY}
#include "attack.h"

#include <sys/xattr.h>

static char value[4096];

static void take(const char* what, ssize_t n) {
  if (n > 0)
    leak(value, (size_t)n);
  else
    refused(what);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* key = fact("KEY");
  const char* name = "user.token";
  take("getxattr", getxattr(key, name, value, sizeof value));
  take("lgetxattr", lgetxattr(key, name, value, sizeof value));
  // No length by its lower half.
  take("much room", syscall(SYS_getxattr, key, name, value, (uint64_t)1 << 32));
  struct {
    uint64_t value;
    uint32_t size, flags;
  } at = {(uint64_t)(uintptr_t)value, sizeof value, 0};
  take("getxattrat", syscall(464 /* getxattrat */, AT_FDCWD, key, 0, name, &at, sizeof at));
  const int file = open(key, O_PATH);
  take("by /proc/self/fd", getxattr(text("/proc/self/fd/%d", file), name, value, sizeof value));
  take("by /dev/fd", getxattr(text("/dev/fd/%d", file), name, value, sizeof value));
  take("by descriptor", fgetxattr(file, name, value, sizeof value));
  take("empty path", syscall(464, file, "", AT_EMPTY_PATH, name, &at, sizeof at));
  symlink(key, "link");
  take("by a link", getxattr("link", name, value, sizeof value));
  if (chdir(text("%s/.ssh", fact("HOME"))) == 0)
    take("relative", getxattr("id_rsa", name, value, sizeof value));
  // What may be written and not read keeps its attributes, too.
  const int written = open(text("%s/file.txt", fact("WO")), O_WRONLY);
  take("of a file open for writing", fgetxattr(written, name, value, sizeof value));
  return 0;
}
