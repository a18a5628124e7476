// Sends a granted connection by another of the machine's interfaces than its routes say, past a VPN.
// class: OS sandboxes: tricks on sockets made outside
// plain: say
// flags: --connect 127.0.0.1:{GRANTED}
// journal: system *setsockopt*
#include "net.h"
#include <net/if.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = granted_connection();
  const int first = 1;
  if (setsockopt(fd, SOL_SOCKET, 62 /* SO_BINDTOIFINDEX */, &first, sizeof first) == 0) effect("bound to interface 1");
  else refused("SO_BINDTOIFINDEX");
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0) effect("bound to lo");
  else refused("SO_BINDTODEVICE");
  return 0;
}
