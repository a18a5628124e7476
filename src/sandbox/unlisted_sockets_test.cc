#include "sandbox/unlisted_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "base/fd.h"
#include "sandbox/empty_network.h"

namespace bulkhead {
namespace {

using testing::alone;
using testing::eventually;

constexpr uint64_t kQueued = uint64_t{32} << 10U;  // a connection's first window, about

class Look {
 public:
  explicit Look(int diag) : diag_(diag) {}
  uint64_t bytes() {
    ProcReader::Open open;
    proc_.add_open(::getpid(), &open);
    return unlisted_.bytes(diag_, inet_sockets(diag_), proc_, open.sockets);
  }

 private:
  const int diag_;
  const ProcReader proc_{Fd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC))};
  UnlistedSockets unlisted_;
};

sockaddr_in address_of(const Fd& socket) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  return at;
}

int connect_to(const Fd& socket, const sockaddr_in& at) {
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
}

struct Server {
  Server() {
    const sockaddr_in loopback{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback),
              0);
    EXPECT_EQ(::listen(socket.get(), 100), 0);
  }
  // A connection to it that is full.
  Fd fill() const {
    Fd client(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(connect_to(client, address_of(socket)), 0);
    EXPECT_EQ(::fcntl(client.get(), F_SETFL, O_NONBLOCK), 0);
    const std::vector<char> much(1U << 20U);
    while (::send(client.get(), much.data(), much.size(), 0) > 0) {
    }
    return client;
  }
  const Fd socket{::socket(AF_INET, SOCK_STREAM, 0)};
};

void reset(Fd client) {
  const linger at_once{1, 0};
  EXPECT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  client.reset();
}

TEST(UnlistedSockets, ThoseThatAreListedAreNotAsked) {
  alone([](int diag) {
    Look look(diag);
    const Server server;
    const Fd client = server.fill();
    const Fd accepted(::accept(server.socket.get(), nullptr, nullptr));
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_EQ(look.bytes(), 0U);
  });
}

TEST(UnlistedSockets, AConnectionThatItsPeerHasReset) {
  alone([](int diag) {
    Look look(diag);
    const Server server;
    Fd client = server.fill();
    const Fd accepted(::accept(server.socket.get(), nullptr, nullptr));
    reset(std::move(client));
    EXPECT_TRUE(eventually([&] { return inet_sockets(diag).bytes < kQueued; }));
    EXPECT_GE(look.bytes(), kQueued);
  });
}

// Of these the whole machine's number tells, which is less exact, and where others let go of theirs
// meanwhile it tells less.
TEST(UnlistedSockets, AConnectionThatWasResetBeforeItWasAccepted) {
  alone([](int diag) {
    constexpr uint64_t kConnections = 64;
    uint64_t counted = 0;
    for (int tries = 0; tries < 50 && counted < kConnections / 2 * kQueued; ++tries) {
      Look look(diag);
      const Server server;
      for (uint64_t i = 0; i < kConnections; ++i) reset(server.fill());
      EXPECT_TRUE(eventually([&] { return inet_sockets(diag).unlisted_waiting == kConnections; }));
      EXPECT_EQ(look.bytes(), 0U);  // not at once: see there
      counted = look.bytes();
    }
    EXPECT_GE(counted, kConnections / 2 * kQueued);
  });
}

TEST(UnlistedSockets, AUdpSocketThatWasDisconnected) {
  alone([](int diag) {
    Look look(diag);
    const Fd sender(::socket(AF_INET, SOCK_DGRAM, 0));
    const Fd holder(::socket(AF_INET, SOCK_DGRAM, 0));
    sockaddr_in at{.sin_family = AF_INET,
                   .sin_port = htons(9),
                   .sin_addr = {htonl(INADDR_LOOPBACK)},
                   .sin_zero = {}};
    ASSERT_EQ(connect_to(sender, at), 0);
    ASSERT_EQ(connect_to(holder, address_of(sender)), 0);
    ASSERT_EQ(connect_to(sender, address_of(holder)), 0);
    const std::vector<char> much(16U << 10U);
    for (int i = 0; i < 8; ++i) (void)::send(sender.get(), much.data(), much.size(), 0);
    EXPECT_TRUE(eventually([&] { return inet_sockets(diag).bytes >= kQueued; }));
    at = {};
    ASSERT_EQ(connect_to(holder, at), 0);
    EXPECT_LT(inet_sockets(diag).bytes, kQueued);
    EXPECT_GE(look.bytes(), kQueued);
  });
}

TEST(UnlistedSockets, WhatTheMachineTells) {
  EXPECT_EQ(parse_inet_pages("sockets: used 11\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 188\n"
                             "UDP: inuse 0 mem 12\nUDPLITE: inuse 0\n"),
            200U);
  EXPECT_EQ(parse_inet_pages("\nTCP: inuse 1 mem -3\nUDP: inuse 0 mem 12\n"), 12U);
  EXPECT_EQ(parse_inet_pages("sockets: used 11\nUDP: inuse 0 mem 12\n"), UINT64_MAX);
  EXPECT_EQ(parse_inet_pages("\nTCP: inuse 1\nUDP: inuse 0 mem 12\n"), UINT64_MAX);
  EXPECT_EQ(parse_inet_pages(""), UINT64_MAX);
}

}  // namespace
}  // namespace bulkhead
