// Fills the disk without writing a byte: a folder takes a block of it, as does a long link, or an attribute; names take room in a folder.
// class: OS sandboxes: disk filling
// plain: say
// flags: --written 8MiB
// inside: exit 119
#include "attack.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

// A name takes 512 bytes of the limit: a few more than fit, so that each way to make one must count.
enum { kEach = 2048, kNames = 17500, kWays = 7 };

static int bind_name(int i) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%090d", i);
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int bound = bind(made, (struct sockaddr*)&address, sizeof address);
  close(made);
  return bound == 0;
}

// A name that moves on leaves its folder as large as that was.
static int make_name(int i) {
  const char* const name = text("%0240d", i);
  switch (i % kWays) {
    case 0:
      return close(open(name, O_WRONLY | O_CREAT, 0600)) == 0;
    case 1:
      return close(open(text("here/%s", name), O_WRONLY | O_CREAT, 0600)) == 0;
    case 2:
      return link("first", name) == 0;
    case 3:
      return symlink("first", name) == 0;
    case 4:
      return bind_name(i);
    case 5:
      return mknod(name, S_IFREG | 0600, 0) == 0;
    default:
      return rename(text("%0240d", i - 1), name) == 0;
  }
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  put_file("first", "");
  if (mkdir("folder", 0700) != 0 || symlink("folder", "here") != 0) refused("a folder and a link to it");
  if (fork() == 0) {
    int names = 0;
    for (int i = 0; i < kNames; ++i) names += make_name(i);
    nap(500);
    effect("%d names", names);
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
