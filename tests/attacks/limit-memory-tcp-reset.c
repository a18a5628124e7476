// Takes memory that belongs to no process and that the kernel lists nowhere: connections that hold what they got, and
// whose other end has reset them.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "net.h"

enum { kConnections = 900, kMost = 128 << 20, kEffect = 80 << 20 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in at;
  const int server = listening(&at, 16);
  size_t taken = 0;
  for (int i = 0; i < kConnections && taken < kMost; ++i) {
    const int client = connected(&at);
    if (accept(server, NULL, NULL) < 0) refused("accept");
    taken += fill_and_reset(client);
  }
  nap(inside() ? 20000 : 0);  // as long as somebody who looks from time to time may need on a busy machine
  if (taken > kEffect) effect("%zu MiB in connections that are none", taken >> 20);
  return 0;
}
