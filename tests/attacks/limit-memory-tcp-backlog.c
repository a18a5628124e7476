// Takes memory that belongs to no process and that the kernel lists nowhere: connections that nobody accepts, and whose
// other end has reset them.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "net.h"

enum { kConnections = 1000, kListeners = 10, kMost = 128 << 20, kEffect = 80 << 20 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  size_t taken = 0;
  for (int k = 0; k < kListeners && taken < kMost; ++k) {
    struct sockaddr_in at;
    listening(&at, kConnections);
    for (int i = 0; i < kConnections / kListeners && taken < kMost; ++i) taken += fill_and_reset(connected(&at));
  }
  nap(inside() ? 20000 : 0);  // as long as somebody who looks from time to time may need on a busy machine
  if (taken > kEffect) effect("%zu MiB in connections that nobody accepts", taken >> 20);
  return 0;
}
