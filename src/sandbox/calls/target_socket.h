// TargetSocket: a caller's socket, as the supervisor holds a duplicate of it. Everything is done
// on the duplicate, so that the caller may put another descriptor in its place meanwhile: it
// only deceives itself.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "policy/address.h"

namespace bulkhead {

class Call;

// The network namespace that a socket belongs to, as SO_NETNS_COOKIE numbers it; 0 where the kernel
// does not say, which is no namespace's number.
uint64_t network_of(int socket);

struct TargetSocket {
  Fd fd;
  int number = -1;  // in the caller's table
  int domain = 0;
  int type = 0;
  int protocol = 0;
  bool non_blocking = false;
  // Made inside the compartment. Others were injected after a connect, or inherited.
  bool inside = false;
};

// EBADF, ENOTSOCK or another errno as an error.
Result<TargetSocket> take_socket(const Call& call, int number);

// A close-on-exec flag belongs to the caller's descriptor, not to what it shares with a duplicate.
bool closes_on_exec(pid_t tid, int number);

// A socket address, copied from the caller once.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  sa_family_t family() const { return size < sizeof(sa_family_t) ? AF_UNSPEC : bytes.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};
// 0, EINVAL or EFAULT.
int read_address(const Call& call, uint64_t address, uint64_t size, SocketAddress* into);

struct SocketEndpoint {
  IpAddress address;
  uint16_t port = 0;
  std::string to_string() const;  // 192.0.2.1:443, [2001:db8::1]:443
};
// nullopt for other families and for addresses that are too short.
std::optional<SocketEndpoint> endpoint_of(const SocketAddress& address);

// Which address and port it has; nullopt where it has none of IP.
std::optional<SocketEndpoint> own_endpoint(int socket);
// What the socket is bound to, where that is one address and not all; nullopt otherwise.
std::optional<IpAddress> bound_address(int socket);

// TCP_CLOSE where it cannot be told.
int tcp_state(int socket);
// Takes the pending error from the socket; 0 where there is none.
int take_socket_error(int socket);

// Gives `to` the options of `from` that matter to a client's connection. Left out on purpose:
// marks, devices, source routes, delayed connects, and what only a server uses.
void copy_client_options(int from, int to);

}  // namespace bulkhead
