// Takes labels of IPv6's flows, of which the machine has 4,096 for all its networks and programs.
// class: OS sandboxes: using up what others need
// plain: say
#include "attack.h"
#include <linux/in6.h>
#include <netinet/in.h>
#include <sys/socket.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int taken = 0;
  // Few plainly, and each for as long as its socket lives and some seconds more: other tests run beside this one.
  for (int i = 0; i < 32; ++i) {
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct in6_flowlabel_req wanted = {.flr_dst.s6_addr = {[15] = 1},
                                             .flr_action = IPV6_FL_A_GET,
                                             .flr_share = IPV6_FL_S_ANY,
                                             .flr_flags = IPV6_FL_F_CREATE};
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &wanted, sizeof wanted) == 0) ++taken;
    else refused("a label");
  }
  if (taken > 0) effect("%d labels", taken);
  return 0;
}
