// For tests: connections of the internet that nobody reads from.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "base/fd.h"

namespace bulkhead::testing {

inline sockaddr_in address_of(const Fd& socket) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  return at;
}

inline int connect_to(const Fd& socket, const sockaddr_in& at) {
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
}

struct Server {
  Server() {
    const sockaddr_in loopback{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback),
              0);
    EXPECT_EQ(::listen(socket.get(), 4096), 0);
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
  Fd socket{::socket(AF_INET, SOCK_STREAM, 0)};
};

}  // namespace bulkhead::testing
