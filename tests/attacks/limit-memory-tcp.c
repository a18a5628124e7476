// Takes memory that belongs to no process: connections to itself, filled and never read.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
// inside: exit 120
#include "net.h"

enum { kConnections = 80 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static char block[1 << 20];
  struct sockaddr_in at = at_v4("127.0.0.1", 0);
  socklen_t size = sizeof at;
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(server, (struct sockaddr*)&at, sizeof at) != 0 || listen(server, kConnections) != 0 ||
      getsockname(server, (struct sockaddr*)&at, &size) != 0)
    refused("listen");
  size_t taken = 0;
  for (int i = 0; i < kConnections; ++i) {
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr*)&at, sizeof at) != 0) refused("connect");
    fcntl(client, F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = write(client, block, sizeof block)) > 0;) taken += (size_t)n;
    nap(10);
  }
  nap(1000);
  if (taken >> 20 > 128) effect("%zu MiB in buffers", taken >> 20);
  return 0;
}
