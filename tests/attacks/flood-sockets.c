// Leaves thousands of connections, servers and descriptors in flight with the supervisor.
// class: OS sandboxes: descriptor exhaustion
// plain: message
// flags: --connect 127.0.0.1:{GRANTED}
// inside: exit 0
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in a = at_v4("127.0.0.1", number("GRANTED"));
  for (int round = 0; round < 4; ++round) {
    int fds[100];
    for (int i = 0; i < 100; ++i) {
      fds[i] = socket(AF_INET, SOCK_STREAM | (i % 2 ? SOCK_NONBLOCK : 0), 0);
      (void)!connect(fds[i], (struct sockaddr*)&a, sizeof a);
    }
    for (int i = 0; i < 100; ++i) close(fds[i]);
  }
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  char hello[16];
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0 || read(fd, hello, sizeof hello) <= 0) {
    refused("what is allowed, after the flood");
    return 3;
  }
  a = at_v4("127.0.0.1", number("COLLECTOR"));
  connect_and_tell(socket(AF_INET, SOCK_STREAM, 0), &a, sizeof a, "after the flood");
  return 0;
}
