// Takes memory that belongs to no process: what waits in unix sockets, also where who sent it has closed its own, where
// nobody accepts it, and where the sockets themselves are on their way through another one.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
// inside: exit 120
#include "attack.h"
#include <sys/socket.h>
#include <sys/un.h>

enum { kPairs = 280, kWays = 4 };

static char block[1 << 20];
static size_t taken;

static void fill(int to) {
  const ssize_t n = write(to, block, sizeof block);
  if (n > 0) taken += (size_t)n;
}

static void send_away(int through, int fd) {
  char space[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec one = {block, 1};
  struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(control), &fd, sizeof fd);
  if (sendmsg(through, &message, 0) == 1) close(fd);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_un at = {AF_UNIX, "\0never accepts"};
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(server, (struct sockaddr*)&at, sizeof at) != 0 || listen(server, kPairs) != 0) refused("listen");
  int way[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, way) != 0) refused("socketpair");
  // A process for each way, so that none has many descriptors; each stays below the limit alone.
  for (int kind = 0; kind < kWays; ++kind) {
    if (fork() != 0) continue;
    for (int i = 0; i < kPairs; ++i) {
      int pair[2];
      if (kind == 2) {
        pair[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(pair[0], (struct sockaddr*)&at, sizeof at) != 0) continue;
      } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) {
        continue;
      }
      fill(pair[0]);
      if (kind == 1 || kind == 2) close(pair[0]);
      if (kind == 3) {
        send_away(way[0], pair[0]);
        send_away(way[0], pair[1]);
      }
      nap(2);
    }
    nap(1500);
    effect("%zu MiB in buffers", taken >> 20);
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
  return 0;
}
