#include "sandbox/limits/unlisted_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "base/fd.h"
#include "sandbox/plan/probe.h"
#include "sandbox/testing/empty_network.h"
#include "sandbox/testing/full_connections.h"

namespace bulkhead {
namespace {

using testing::address_of;
using testing::alone;
using testing::connect_to;
using testing::eventually;
using testing::Server;

constexpr uint64_t kQueued = uint64_t{32} << 10U;  // a connection's first window, about

ProcReader own_proc() { return ProcReader(Fd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC))); }

class UnlistedSocketsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (try_take_descriptor(::getpid()) != 0) GTEST_SKIP() << "needs pidfd-getfd";
  }
};

class Look {
 public:
  using Held = std::map<uint64_t, ProcReader::Holder>;

  explicit Look(int diag) : diag_(diag) {}
  uint64_t bytes() {
    ProcReader::Open open;
    proc_.add_open(::getpid(), &open);
    return bytes(inet_sockets(diag_), open.sockets);
  }
  uint64_t bytes(const InetSockets& listed, const Held& held) {
    return unlisted_.bytes(diag_, listed, proc_, held);
  }
  uint64_t bytes_at_the_least() { return unlisted_.bytes_at_the_least(diag_); }

 private:
  const int diag_;
  const ProcReader proc_ = own_proc();
  UnlistedSockets unlisted_;
};

// What the machine's number has to grow by before it tells anything, see there.
uint64_t reserve() { return static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN)) << 20U; }

void reset(Fd client) {
  const linger at_once{1, 0};
  EXPECT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  client.reset();
}

TEST_F(UnlistedSocketsTest, ThoseThatAreListedAreNotAsked) {
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

TEST_F(UnlistedSocketsTest, AConnectionThatItsPeerHasReset) {
  alone([](int diag) {
    Look look(diag);
    const Server server;
    Fd client = server.fill();
    const Fd accepted(::accept(server.socket.get(), nullptr, nullptr));
    reset(std::move(client));
    EXPECT_TRUE(eventually([&] { return inet_sockets(diag).bytes < kQueued; }));
    EXPECT_TRUE(eventually([&] { return look.bytes() >= kQueued; }));
  });
}

// Of these the whole machine's number tells, which is less exact, and where others let go of theirs
// meanwhile it tells less.
TEST_F(UnlistedSocketsTest, AConnectionThatWasResetBeforeItWasAccepted) {
  alone([](int diag) {
    constexpr uint64_t kSome = 64, kMost = 4000, kCounted = kSome * kQueued;
    Look look(diag);
    Server server;
    uint64_t made = 0;
    const auto make_some = [&] {
      for (uint64_t i = 0; i < kSome; ++i) reset(server.fill());
      made += kSome;
      EXPECT_TRUE(eventually([&] { return inet_sockets(diag).unlisted_waiting == made; }));
    };
    make_some();
    EXPECT_EQ(look.bytes(), 0U);  // not at once: see there
    while (look.bytes() < kCounted && made < kMost) make_some();
    EXPECT_GE(look.bytes_at_the_least(), kCounted);
    server.socket.reset();
    EXPECT_EQ(look.bytes_at_the_least(), 0U) << "none of them waits any more";
  });
}

// As a server has them that is busy: others at each look. One that stays and cannot be asked
// counts.
TEST_F(UnlistedSocketsTest, WhatWasClosedSinceItWasListedDoesNotCount) {
  alone([](int diag) {
    constexpr uint64_t kMany = uint64_t{16} << 20U;
    constexpr size_t kMostClients = 500;
    const ProcReader::Holder closed{::getpid(), 1 << 20};
    uint64_t counted = 0;
    for (int tries = 0; tries < 20 && counted == 0; ++tries) {
      Look look(diag);
      // What others hold, as far as is told here.
      const Server server;
      std::vector<Fd> clients;
      while (inet_sockets(diag).buffers < reserve() + kMany && clients.size() < kMostClients)
        clients.push_back(server.fill());
      for (uint64_t inode = 1; inode < 10; ++inode)
        EXPECT_EQ(look.bytes({}, {{inode, closed}, {inode + 100, closed}}), 0U);
      counted = look.bytes({}, {{9, closed}});
    }
    EXPECT_GT(counted, 0U);
  });
}

TEST_F(UnlistedSocketsTest, AUdpSocketThatWasDisconnected) {
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
    EXPECT_TRUE(eventually([&] { return look.bytes() >= kQueued; }));
  });
}

TEST(InetPages, WhatTheMachineTells) {
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
