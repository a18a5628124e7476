// Offers a server to the world outside: bound, and by listen alone.
// class: kernel: listen without bind is allowed
// plain: message
// flags: --connect 127.0.0.1:{DIAL}
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int bound = 0; bound < 2; ++bound) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = at_v4(bound ? "127.0.0.1" : "0.0.0.0", 0);
    socklen_t size = sizeof a;
    if (bound && bind(fd, (struct sockaddr*)&a, sizeof a) != 0) refused("bind");
    if (listen(fd, 5) != 0) refused("listen");
    getsockname(fd, (struct sockaddr*)&a, &size);
    ask_to_dial(ntohs(a.sin_port), fd);
  }
  return 0;
}
