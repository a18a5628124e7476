// Fills the disk without writing a byte: a folder takes a block of it, as does a long link, or an attribute; names take room in a folder.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
// inside: exit 119
#include "attack.h"
#include <sys/xattr.h>

enum { kEach = 2048, kNames = 40000 };

// Each way to make one; a name that moves on leaves its folder as large as that was.
static int make_name(int i) {
  const char* const name = text("%0240d", i);
  switch (i % 5) {
    case 0:
      return close(open(name, O_WRONLY | O_CREAT, 0600)) == 0;
    case 1:
      return link("first", name) == 0 || (unlink("first"), close(open("first", O_WRONLY | O_CREAT, 0600)) == 0);
    case 2:
      return symlink("first", name) == 0;
    case 3:
      return mknod(name, S_IFREG | 0600, 0) == 0;
    default:
      return rename(text("%0240d", i - 1), name) == 0;
  }
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  put_file("first", "");
  if (fork() == 0) {
    int names = 0;
    for (int i = 0; i < kNames; ++i) names += make_name(i);
    struct stat folder;
    if (stat(".", &folder) == 0 && folder.st_size > 10 << 20) effect("%d names in a folder of %lld bytes", names, (long long)folder.st_size);
    _exit(0);
  }
  wait(NULL);
  static char block[3000];
  memset(block, 'a', sizeof block - 1);
  for (int i = 100; i < (int)sizeof block - 1; i += 100) block[i] = '/';
  int made = 0;
  for (int i = 0; i < kEach; ++i) {
    made += mkdir(text("folder-%d", i), 0700) == 0;
    made += symlink(block, text("link-%d", i)) == 0;
    const int fd = open(text("file-%d", i), O_RDWR | O_CREAT, 0600);
    made += fsetxattr(fd, "user.block", block, sizeof block, 0) == 0;
    close(fd);
    if (i % 64 == 0) nap(10);
  }
  nap(500);
  effect("%d blocks taken", made);
  return 0;
}
