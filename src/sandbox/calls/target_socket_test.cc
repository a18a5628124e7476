#include "sandbox/calls/target_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>

namespace bulkhead {
namespace {

template <typename T>
T option(const Fd& socket, int level, int name) {
  T value{};
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket.get(), level, name, &value, &size), 0) << level << " " << name;
  return value;
}
template <typename T>
void set(const Fd& socket, int level, int name, T value) {
  EXPECT_EQ(::setsockopt(socket.get(), level, name, &value, sizeof value), 0)
      << level << " " << name;
}

TEST(TargetSocket, CopiesTheOptionsOfAClient) {
  const Fd from(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd to(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd plain(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  set(from, IPPROTO_TCP, TCP_NODELAY, 1);
  set(from, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(from, IPPROTO_TCP, TCP_KEEPIDLE, 77);
  set(from, IPPROTO_TCP, TCP_USER_TIMEOUT, 1234);
  set(from, IPPROTO_IP, IP_TOS, 0x10);
  set(from, SOL_SOCKET, SO_RCVBUF, 20000);
  set(from, SOL_SOCKET, SO_LINGER, linger{1, 3});
  set(from, SOL_SOCKET, SO_SNDTIMEO, timeval{2, 500000});
  set(from, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
  copy_client_options(from.get(), to.get());
  EXPECT_EQ(option<int>(to, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option<int>(to, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option<int>(to, IPPROTO_TCP, TCP_KEEPIDLE), 77);
  EXPECT_EQ(option<int>(to, IPPROTO_TCP, TCP_USER_TIMEOUT), 1234);
  EXPECT_EQ(option<int>(to, IPPROTO_IP, IP_TOS), 0x10);
  EXPECT_EQ(option<int>(to, SOL_SOCKET, SO_RCVBUF), 40000) << "doubled once, not twice";
  EXPECT_EQ(option<int>(to, SOL_SOCKET, SO_SNDBUF), option<int>(plain, SOL_SOCKET, SO_SNDBUF));
  EXPECT_EQ(option<linger>(to, SOL_SOCKET, SO_LINGER).l_linger, 3);
  EXPECT_EQ(option<timeval>(to, SOL_SOCKET, SO_SNDTIMEO).tv_sec, 2);
  EXPECT_EQ(option<int>(to, IPPROTO_TCP, TCP_FASTOPEN_CONNECT), 0)
      << "it would delay the connection past the decision";
}

TEST(TargetSocket, ReadsEndpoints) {
  SocketAddress address;
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(443);
  in.sin_addr.s_addr = htonl(0xC0000201);
  std::memcpy(&address.bytes, &in, sizeof in);
  address.size = sizeof in;
  ASSERT_TRUE(endpoint_of(address));
  EXPECT_EQ(endpoint_of(address)->to_string(), "192.0.2.1:443");
  address.size = sizeof in - 1;
  EXPECT_FALSE(endpoint_of(address)) << "too short";

  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(80);
  in6.sin6_addr = in6addr_loopback;
  std::memcpy(&address.bytes, &in6, sizeof in6);
  address.size = 24;
  ASSERT_TRUE(endpoint_of(address));
  EXPECT_EQ(endpoint_of(address)->to_string(), "[::1]:80");
  const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1};
  std::memcpy(&in6.sin6_addr, mapped, sizeof mapped);
  std::memcpy(&address.bytes, &in6, sizeof in6);
  EXPECT_EQ(endpoint_of(address)->to_string(), "10.0.0.1:80");
  address.size = 23;
  EXPECT_FALSE(endpoint_of(address));
  address.size = 1;
  EXPECT_FALSE(endpoint_of(address));
  EXPECT_EQ(address.family(), AF_UNSPEC);
}

TEST(TargetSocket, CloseOnExecIsReadFromTheDescriptor) {
  const Fd with(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd without(::dup(with.get()));
  EXPECT_TRUE(closes_on_exec(::gettid(), with.get()));
  EXPECT_FALSE(closes_on_exec(::gettid(), without.get()));
}

TEST(TargetSocket, NetworksHaveNumbers) {
  const Fd one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd two(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_NE(network_of(one.get()), 0U);
  EXPECT_EQ(network_of(one.get()), network_of(two.get()));
  EXPECT_EQ(network_of(-1), 0U);
}

}  // namespace
}  // namespace bulkhead
