// Asks the kernel for the machine's network: its interfaces and neighbours are nobody's business.
// class: OS sandboxes: netlink sockets
// plain: say
#include "net.h"
#include <ifaddrs.h>
#include <net/if.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct ifaddrs* list = NULL;
  if (getifaddrs(&list) != 0) refused("getifaddrs");
  for (struct ifaddrs* at = list; at; at = at->ifa_next)
    if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET && !(at->ifa_flags & IFF_LOOPBACK)) effect("sees the interface %s", at->ifa_name);
  for (unsigned i = 2; i < 32; ++i) {
    char name[IF_NAMESIZE];
    if (if_indextoname(i, name)) effect("sees the interface %s", name);
  }
  return 0;
}
