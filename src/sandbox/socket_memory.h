// What the sockets of a network namespace hold in the kernel, which belongs to no process.
#pragma once

#include <cstdint>

namespace bulkhead {

// Bytes of buffers and of the sockets themselves, as told by `diag` (NETLINK_SOCK_DIAG of that
// namespace, sock_diag(7)). Zero for a family of which this kernel does not tell.
uint64_t unix_socket_bytes(int diag);
uint64_t inet_socket_bytes(int diag);
uint64_t netlink_socket_bytes(int diag);  // what was sent to them and nobody has read
// A part of these, which a cgroup does not count: those of netlink, and of the others what a call
// that waits for room brought along besides its message (cmsg(3)). Apart for sockets of the
// internet, since the kernel looks through the whole machine's table of connections to tell.
uint64_t uncharged_socket_bytes(int diag);
uint64_t uncharged_inet_bytes(int diag);

}  // namespace bulkhead
