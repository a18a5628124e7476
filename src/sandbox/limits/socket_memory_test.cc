#include "sandbox/limits/socket_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "sandbox/testing/empty_network.h"

namespace bulkhead {
namespace {

using testing::alone;

constexpr uint64_t kQueued = uint64_t{200} << 10U;  // what a socket takes before it is full, about

struct Pair {
  explicit Pair(int type) {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends.data()), 0);
    one.reset(ends[0]);
    other.reset(ends[1]);
  }
  Fd one, other;
};

void fill(const Fd& socket) {
  const std::vector<char> much(1U << 20U);
  while (::send(socket.get(), much.data(), much.size(), 0) > 0) {
  }
}

TEST(SocketMemory, SocketsThatHoldNothingAreSmall) {
  alone([](int diag) {
    EXPECT_EQ(unix_socket_bytes(diag) + inet_sockets(diag).bytes, 0U);
    const Pair pair(SOCK_STREAM);
    EXPECT_GT(unix_socket_bytes(diag), 0U);
    EXPECT_LT(unix_socket_bytes(diag), 10'000U);
  });
}

TEST(SocketMemory, WhatWaitsCountsAlsoWhereItsSenderHasGone) {
  alone([](int diag) {
    Pair pair(SOCK_STREAM);
    fill(pair.one);
    EXPECT_GE(unix_socket_bytes(diag), kQueued);
    pair.one.reset();
    EXPECT_GE(unix_socket_bytes(diag), kQueued);
  });
}

TEST(SocketMemory, EmptyMessagesTakeMemory) {
  alone([](int diag) {
    Pair pair(SOCK_SEQPACKET);
    while (::send(pair.one.get(), "", 0, 0) == 0) {
    }
    EXPECT_GE(unix_socket_bytes(diag), kQueued);
    pair.one.reset();
    EXPECT_GE(unix_socket_bytes(diag), kQueued);
  });
}

TEST(SocketMemory, WhatAMessageBringsAlongCountsWhileItWaits) {
  alone([](int diag) {
    const Pair pair(SOCK_STREAM);
    fill(pair.one);
    ::fcntl(pair.one.get(), F_SETFL, 0);
    std::vector<cmsghdr> controls(4096, {sizeof(cmsghdr), 99, 1});
    std::vector<char> much(1U << 20U);
    iovec bytes{much.data(), much.size()};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = controls.data();
    message.msg_controllen = controls.size() * sizeof(cmsghdr);
    EXPECT_LT(uncharged_socket_bytes(diag), message.msg_controllen);  // of `diag` itself
    const uint64_t before = unix_socket_bytes(diag);
    std::thread waits([&] { (void)::sendmsg(pair.one.get(), &message, MSG_NOSIGNAL); });
    for (int i = 0; i < 2000 && uncharged_socket_bytes(diag) < message.msg_controllen; ++i)
      ::usleep(1000);
    EXPECT_GE(uncharged_socket_bytes(diag), message.msg_controllen);
    EXPECT_GE(unix_socket_bytes(diag), before + message.msg_controllen);
    ::shutdown(pair.other.get(), SHUT_RDWR);
    waits.join();
  });
}

TEST(SocketMemory, WhatNobodyAcceptsCounts) {
  alone([](int diag) {
    const sockaddr_un address{AF_UNIX, "\0never accepts"};
    const auto* at = reinterpret_cast<const sockaddr*>(&address);
    const Fd server(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(server.get(), at, sizeof address), 0);
    ASSERT_EQ(::listen(server.get(), 1), 0);
    Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ASSERT_EQ(::connect(client.get(), at, sizeof address), 0);
    fill(client);
    EXPECT_GE(unix_socket_bytes(diag), kQueued);
    client.reset();
    EXPECT_GE(unix_socket_bytes(diag), kQueued);
  });
}

TEST(SocketMemory, WhatNobodyReadsFromNetlinkCounts) {
  alone([](int diag) {
    const Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    EXPECT_LT(netlink_socket_bytes(diag), uint64_t{64} << 10U);  // of `diag` itself
    nlmsghdr unknown{};
    unknown.nlmsg_len = sizeof unknown;
    unknown.nlmsg_type = 9999;
    unknown.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    for (int i = 0; i < 1000; ++i) (void)::send(socket.get(), &unknown, sizeof unknown, 0);
    EXPECT_GE(netlink_socket_bytes(diag), uint64_t{100} << 10U);
    EXPECT_GE(uncharged_socket_bytes(diag), uint64_t{100} << 10U);
  });
}

TEST(SocketMemory, SocketsOfTheInternetCountWhatTheyHold) {
  alone([](int diag) {
    const Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::listen(tcp.get(), 1), 0);
    const uint64_t before = inet_sockets(diag).bytes;
    EXPECT_GT(before, 0U);
    EXPECT_LT(before, 10'000U);
    EXPECT_EQ(unix_socket_bytes(diag), 0U);
  });
}

TEST(SocketMemory, ACgroupDoesNotCountWhatNobodyHasAccepted) {
  alone([](int diag) {
    const Fd server(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in at{};
    socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    ASSERT_EQ(::listen(server.get(), 1), 0);
    ASSERT_EQ(::getsockname(server.get(), address, &size), 0);
    const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    (void)::connect(client.get(), address, size);
    pollfd connected = {client.get(), POLLOUT, 0};
    ASSERT_TRUE(testing::eventually([&] { return ::poll(&connected, 1, 0) == 1; }));
    ASSERT_EQ(::send(client.get(), "x", 1, 0), 1);
    EXPECT_TRUE(testing::eventually([&] { return inet_sockets(diag).uncharged > 0; }));
    EXPECT_EQ(inet_sockets(diag).unlisted_waiting, 0U);
    const Fd peer(::accept(server.get(), nullptr, nullptr));
    EXPECT_EQ(inet_sockets(diag).uncharged, 0U);
  });
}

TEST(SocketMemory, SocketsOfEachKindAreListed) {
  alone([](int diag) {
    const auto inode = [](int socket) {
      struct stat about {};
      return ::fstat(socket, &about) == 0 ? about.st_ino : 0;
    };
    const Pair pair(SOCK_STREAM);
    const Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::listen(tcp.get(), 1), 0);
    EXPECT_TRUE(other_sockets(diag).contains(inode(pair.one.get())));
    EXPECT_TRUE(other_sockets(diag).contains(inode(diag)));
    EXPECT_TRUE(inet_sockets(diag).inodes.contains(inode(tcp.get())));
  });
}

TEST(SocketMemory, WhatIsNoWholeSocketIsSmall) {
  std::array<uint32_t, SK_MEMINFO_VARS> memory{};
  EXPECT_LT(inet_bytes({}), inet_bytes(memory));
  memory.fill(4096);
  EXPECT_EQ(inet_buffers(memory), 3 * 4096U);
  EXPECT_GT(inet_bytes(memory), inet_buffers(memory));
}

}  // namespace
}  // namespace bulkhead
