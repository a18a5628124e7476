#include "sandbox/calls/target_socket.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sandbox/calls/call.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

namespace {

struct Option {
  int level;
  int name;
};

// Copied where the values differ, so that a default stays the kernel's to tune.
constexpr Option kOptions[] = {
    {SOL_SOCKET, SO_KEEPALIVE},
    {SOL_SOCKET, SO_LINGER},
    {SOL_SOCKET, SO_OOBINLINE},
    {SOL_SOCKET, SO_REUSEADDR},
    {SOL_SOCKET, SO_PRIORITY},
    {SOL_SOCKET, SO_RCVLOWAT},
    {SOL_SOCKET, SO_RCVTIMEO},
    {SOL_SOCKET, SO_SNDTIMEO},
    {SOL_SOCKET, SO_ZEROCOPY},
    {SOL_SOCKET, SO_SNDBUF},
    {SOL_SOCKET, SO_RCVBUF},
    {IPPROTO_TCP, TCP_NODELAY},
    {IPPROTO_TCP, TCP_CORK},
    {IPPROTO_TCP, TCP_KEEPIDLE},
    {IPPROTO_TCP, TCP_KEEPINTVL},
    {IPPROTO_TCP, TCP_KEEPCNT},
    {IPPROTO_TCP, TCP_SYNCNT},
    {IPPROTO_TCP, TCP_LINGER2},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP},
    {IPPROTO_TCP, TCP_USER_TIMEOUT},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT},
    {IPPROTO_TCP, TCP_CONGESTION},
    {IPPROTO_IP, IP_TOS},
    {IPPROTO_IP, IP_TTL},
    {IPPROTO_IP, IP_RECVERR},
    {IPPROTO_IPV6, IPV6_V6ONLY},
    {IPPROTO_IPV6, IPV6_TCLASS},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS},
    {IPPROTO_IPV6, IPV6_RECVERR},
};

struct Value {
  std::array<unsigned char, 64> bytes{};
  socklen_t size = 0;
  friend bool operator==(const Value& a, const Value& b) {
    return a.size == b.size && std::memcmp(a.bytes.data(), b.bytes.data(), a.size) == 0;
  }
};

std::optional<Value> option_of(int socket, Option option) {
  Value value;
  value.size = static_cast<socklen_t>(value.bytes.size());
  if (::getsockopt(socket, option.level, option.name, value.bytes.data(), &value.size) != 0)
    return std::nullopt;
  return value;
}

int int_option(int socket, int level, int name, int otherwise) {
  int value = otherwise;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, level, name, &value, &size) == 0 ? value : otherwise;
}

}  // namespace

uint64_t network_of(int socket) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(socket, SOL_SOCKET, kSoNetnsCookie, &cookie, &size) == 0 ? cookie : 0;
}

Result<TargetSocket> take_socket(const Call& call, int number) {
  TargetSocket socket;
  socket.number = number;
  BULKHEAD_TRY(socket.fd, call.service().processes.borrow(call.tid(), number));
  socklen_t size = sizeof socket.type;
  if (::getsockopt(socket.fd.get(), SOL_SOCKET, SO_TYPE, &socket.type, &size) != 0)
    return errno_error("read the type of a socket");  // ENOTSOCK
  socket.domain = int_option(socket.fd.get(), SOL_SOCKET, SO_DOMAIN, -1);
  socket.protocol = int_option(socket.fd.get(), SOL_SOCKET, SO_PROTOCOL, -1);
  const int flags = ::fcntl(socket.fd.get(), F_GETFL);
  // An O_PATH descriptor of a socket file is refused above; others always have flags.
  socket.non_blocking = flags >= 0 && (flags & O_NONBLOCK) != 0;
  const uint64_t own = network_of(call.service().compartment.dns_udp[0].get());
  socket.inside = own != 0 && network_of(socket.fd.get()) == own;
  return socket;
}

bool closes_on_exec(pid_t tid, int number) {
  const auto text = read_file(fmt::format("/proc/{}/fdinfo/{}", tid, number), 65536);
  if (!text.ok()) return true;  // gone: whatever it is answered, nobody sees it
  constexpr std::string_view kField = "flags:";
  const size_t at = text->find(kField);
  if (at == std::string::npos) return false;
  return (std::strtoul(text->c_str() + at + kField.size(), nullptr, 8) & O_CLOEXEC) != 0;
}

int read_address(const Call& call, uint64_t address, uint64_t size, SocketAddress* into) {
  // The kernel takes an int (move_addr_to_kernel).
  const int bytes = static_cast<int>(static_cast<uint32_t>(size));
  if (bytes < 0 || static_cast<size_t>(bytes) > sizeof into->bytes) return EINVAL;
  into->size = static_cast<socklen_t>(bytes);
  if (bytes == 0) return 0;
  const Status read = call.memory().read(address, &into->bytes, static_cast<size_t>(bytes));
  return read.ok() ? 0 : EFAULT;
}

std::string SocketEndpoint::to_string() const {
  const std::string text = address.to_string();
  return address.is_v4() ? fmt::format("{}:{}", text, port) : fmt::format("[{}]:{}", text, port);
}

std::optional<SocketEndpoint> endpoint_of(const SocketAddress& address) {
  constexpr socklen_t kShortIn6 = 24;  // RFC 2133: without the scope, as the kernel accepts it
  SocketEndpoint endpoint;
  if (address.family() == AF_INET && address.size >= sizeof(sockaddr_in)) {
    sockaddr_in in{};
    std::memcpy(&in, &address.bytes, sizeof in);
    std::array<uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &in.sin_addr, bytes.size());
    endpoint.address = IpAddress::v4(bytes);
    endpoint.port = ntohs(in.sin_port);
    return endpoint;
  }
  if (address.family() == AF_INET6 && address.size >= kShortIn6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address.bytes, kShortIn6);
    std::array<uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
    endpoint.address = IpAddress::v6(bytes);
    endpoint.port = ntohs(in.sin6_port);
    return endpoint;
  }
  return std::nullopt;
}

std::optional<SocketEndpoint> own_endpoint(int socket) {
  SocketAddress own;
  own.size = sizeof own.bytes;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own.bytes), &own.size) != 0)
    return std::nullopt;
  return endpoint_of(own);
}

std::optional<IpAddress> bound_address(int socket) {
  const auto endpoint = own_endpoint(socket);
  if (!endpoint) return std::nullopt;
  for (const uint8_t byte : endpoint->address.bytes())
    if (byte != 0) return endpoint->address;
  return std::nullopt;
}

int tcp_state(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_state
                                                                        : int{TCP_CLOSE};
}

int take_socket_error(int socket) { return int_option(socket, SOL_SOCKET, SO_ERROR, 0); }

void copy_client_options(int from, int to) {
  for (const Option option : kOptions) {
    auto wanted = option_of(from, option);
    const auto present = option_of(to, option);
    if (!wanted || !present || *wanted == *present) continue;
    if (option.level == SOL_SOCKET && (option.name == SO_SNDBUF || option.name == SO_RCVBUF)) {
      // The kernel answers twice what was set (socket(7)).
      int size = 0;
      std::memcpy(&size, wanted->bytes.data(), sizeof size);
      size /= 2;
      std::memcpy(wanted->bytes.data(), &size, sizeof size);
    }
    // What is refused here was a number that the new namespace does not take: the default stays.
    ::setsockopt(to, option.level, option.name, wanted->bytes.data(), wanted->size);
  }
}

}  // namespace bulkhead
