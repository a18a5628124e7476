#include "sandbox/network/listeners.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "base/fd.h"

namespace bulkhead {
namespace {

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    "   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    "   2: 0200A8C0:0051 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    "   3: 0100007F:0052 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0\n"
    " 100: 3500007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n";

TEST(Listeners, FindsThoseThatLoopbackReaches) {
  EXPECT_TRUE(has_listener(kTable, 8080));
  EXPECT_TRUE(has_listener(kTable, 80)) << "all addresses";
  EXPECT_FALSE(has_listener(kTable, 81)) << "another interface's address";
  EXPECT_FALSE(has_listener(kTable, 82)) << "a connection";
  EXPECT_TRUE(has_listener(kTable, 53)) << "127.0.0.53";
  EXPECT_FALSE(has_listener(kTable, 8081));
}

TEST(Listeners, ReadsIpv6) {
  EXPECT_TRUE(has_listener("0: 00000000000000000000000001000000:1F90 0:0 0A x\n", 8080)) << "::1";
  EXPECT_TRUE(has_listener("0: 00000000000000000000000000000000:1F90 0:0 0A x\n", 8080)) << "::";
  EXPECT_TRUE(has_listener("0: 0000000000000000FFFF00000100007F:1F90 0:0 0A x\n", 8080))
      << "::ffff:127.0.0.1";
  EXPECT_FALSE(has_listener("0: B80D0120000000000000000001000000:1F90 0:0 0A x\n", 8080))
      << "2001:db8::1";
}

TEST(Listeners, OddLinesAreNoListeners) {
  for (const auto text : {"", "\n\n", "0: 0100007F 0 0A", "0: 0100007F:zz 0 0A",
                          "0: 0100007F:1F90 0", "0: :1F90x 0 0A", "0: 0100007F:1F90 0 zz"})
    EXPECT_FALSE(has_listener(text, 8080)) << text;
}

TEST(Listeners, ReadsAProcessesTables) {
  const Fd server(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!server) GTEST_SKIP() << "needs ipv6";
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const uint16_t port = ntohs(address.sin6_port);
  EXPECT_FALSE(listens_inside(::getpid(), port));
  ASSERT_EQ(::listen(server.get(), 1), 0);
  EXPECT_TRUE(listens_inside(::getpid(), port));
}

TEST(Listeners, TellsOfOtherRows) {
  bool others = false;
  EXPECT_FALSE(has_listener("  sl local\n0: 0100007F:1F90 0:0 0A x\n", 9, &others));
  EXPECT_FALSE(others);
  EXPECT_FALSE(has_listener("0: 0100007F:1F90 0:0 0A x\n1: 0100007F:0009 0:0 06 x\n", 9, &others));
  EXPECT_TRUE(others);
}

// More of them than one read tells, and each of a table's last rows.
TEST(Listeners, AreFoundAmongMany) {
  std::vector<Fd> servers;
  std::vector<uint16_t> ports;
  for (int i = 0; i < 40; ++i) {
    servers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(servers.back().get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(servers.back().get(), 1), 0);
    ::getsockname(servers.back().get(), reinterpret_cast<sockaddr*>(&address), &size);
    ports.push_back(ntohs(address.sin_port));
    const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  }
  for (const uint16_t port : ports) EXPECT_TRUE(listens_inside(::getpid(), port)) << port;
}

}  // namespace
}  // namespace bulkhead
