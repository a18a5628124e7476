// Makes sockets of families and kinds that reach past an address check, or into odd parts of the kernel.
// class: OS sandboxes: raw, netlink, vsock, AF_ALG sockets
// plain: say
// journal: system *socket*
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const struct { int family, kind, protocol; const char* name; } wanted[] = {
      {AF_INET, SOCK_RAW, IPPROTO_ICMP, "raw"},
      {AF_INET6, SOCK_RAW, 58, "raw IPv6"},
      {AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW, "raw with flags"},
      {AF_PACKET, SOCK_RAW, 0x300, "packet"},
      {AF_PACKET, SOCK_DGRAM, 0x300, "packet, datagrams"},
      {AF_NETLINK, SOCK_RAW, 15, "netlink: kernel events"},
      {AF_NETLINK, SOCK_RAW, 4, "netlink: socket diagnosis"},
      {AF_NETLINK, SOCK_RAW, 9, "netlink: audit"},
      {AF_NETLINK, SOCK_DGRAM, 12, "netlink: netfilter"},
      {AF_NETLINK, SOCK_DGRAM, 16, "netlink: generic"},
      {AF_NETLINK, SOCK_RAW, 6, "netlink: transformation"},
      {AF_NETLINK, SOCK_RAW, 21, "netlink: crypto"},
      {38, SOCK_SEQPACKET, 0, "AF_ALG"},
      {40, SOCK_STREAM, 0, "vsock"},
      {AF_INET, SOCK_STREAM, 132, "SCTP"},
      {AF_INET, SOCK_SEQPACKET, 132, "SCTP, packets"},
      {AF_INET, SOCK_STREAM, 262, "MPTCP"},
      {AF_INET, SOCK_DGRAM, 136, "UDP-Lite"},
      {AF_INET, SOCK_DGRAM, IPPROTO_ICMP, "ping"},
      {AF_INET, 6, 33, "DCCP"},
      {44, SOCK_RAW, 0, "AF_XDP"},
      {43, SOCK_STREAM, 0, "SMC"},
      {30, SOCK_RDM, 0, "TIPC"},
      {29, SOCK_RAW, 1, "CAN"},
      {31, SOCK_RAW, 0, "Bluetooth"},
      {21, SOCK_SEQPACKET, 0, "RDS"},
      {15, SOCK_RAW, 2, "AF_KEY"},
      {AF_UNIX, SOCK_DGRAM, 0, "unix datagrams"},
  };
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    const int fd = socket(wanted[i].family, wanted[i].kind, wanted[i].protocol);
    if (fd >= 0) effect("socket: %s", wanted[i].name);
    else refused(wanted[i].name);
    // Above the int that the kernel reads.
    const int high = (int)syscall(SYS_socket, 0x100000000UL + (unsigned)wanted[i].family, 0x100000000UL + (unsigned)wanted[i].kind,
                                  0x100000000UL + (unsigned)wanted[i].protocol);
    if (high >= 0) effect("socket with high bits: %s", wanted[i].name);
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0) {
    // The pair itself is harmless; that one end can be sent elsewhere by name is not.
    struct sockaddr_un a = at_path(fact("DGRAM"));
    if (sendto(pair[0], "x", 1, 0, (struct sockaddr*)&a, sizeof a) == 1) effect("sent from a pair to a path outside");
    else refused("sendto from a pair");
  }
  return 0;
}
