// What the sockets of a network namespace hold in the kernel, which belongs to no process.
#pragma once

#include <cstdint>
#include <set>
#include <span>

namespace bulkhead {

// Bytes of buffers and of the sockets themselves, as told by `diag` (NETLINK_SOCK_DIAG of that
// namespace, sock_diag(7)). Zero for a family of which this kernel does not tell.
uint64_t unix_socket_bytes(int diag);
uint64_t netlink_socket_bytes(int diag);  // what was sent to them and nobody has read
// A part of these, which a cgroup does not count: those of netlink, and of the others what a call
// that waits for room brought along besides its message (cmsg(3)).
uint64_t uncharged_socket_bytes(int diag);
// The inodes of unix and netlink sockets.
std::set<uint64_t> other_sockets(int diag);

// The same for sockets of the internet, as far as they are listed: see unlisted_sockets.h. Apart,
// since the kernel looks through the whole machine's table of connections to tell.
struct InetSockets {
  uint64_t bytes = 0;
  uint64_t buffers = 0;           // of these, see inet_buffers
  uint64_t uncharged = 0;         // of these, as above, and where a connection waits to be accepted
  uint64_t unlisted_waiting = 0;  // connections that wait, and are not listed themselves
  std::set<uint64_t> inodes;
};
InetSockets inet_sockets(int diag);
// What one holds, by its SK_MEMINFO numbers; and what of it is in the whole machine's number, which
// is of buffers alone (/proc/net/sockstat).
uint64_t inet_bytes(std::span<const uint32_t> memory);
uint64_t inet_buffers(std::span<const uint32_t> memory);

}  // namespace bulkhead
