#include "vscode/outlet.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <random>
#include <string>

#include "base/fd.h"

namespace bulkhead {
namespace {

TEST(Outlet, EveryByteOnceAndInOrderThroughASmallSocket) {
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const Fd ours(fds[0]), theirs(fds[1]);
  std::mt19937 random(11);
  Outlet outlet;
  std::vector<uint8_t> expected, got;
  for (int round = 0; round < 500; ++round) {
    const size_t sizes[] = {0, 1, 13, 5000, 9000, 70000, 300000};
    auto body = std::make_shared<std::vector<uint8_t>>(sizes[random() % 7]);
    for (size_t i = 0; i < body->size(); ++i) (*body)[i] = static_cast<uint8_t>(random());
    expected.insert(expected.end(), body->begin(), body->end());
    if (random() % 2 == 0)
      outlet.add(*body, body);
    else if (random() % 2 == 0)
      outlet.add(*body, nullptr);
    else
      outlet.add(*body);
    ASSERT_TRUE(outlet.write(ours.get()));
    std::vector<uint8_t> buffer(random() % 200000 + 1);
    const ssize_t n = ::recv(theirs.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) got.insert(got.end(), buffer.begin(), buffer.begin() + n);
    ASSERT_GE(expected.size(), got.size() + outlet.size());
  }
  while (got.size() < expected.size()) {
    ASSERT_TRUE(outlet.write(ours.get()));
    std::vector<uint8_t> buffer(65536);
    const ssize_t n = ::recv(theirs.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    ASSERT_GT(n, 0);
    got.insert(got.end(), buffer.begin(), buffer.begin() + n);
  }
  EXPECT_TRUE(got == expected);
  EXPECT_TRUE(outlet.empty());
}

TEST(Outlet, ALargeBodyIsHeldWhereItIsUntilItIsWritten) {
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const Fd ours(fds[0]);
  Fd theirs(fds[1]);
  Outlet outlet;
  const auto body = std::make_shared<std::vector<uint8_t>>(4U << 20U, uint8_t{7});
  outlet.add(*body, body);
  outlet.add(*body, body);
  EXPECT_EQ(body.use_count(), 3) << "not copied";
  EXPECT_TRUE(outlet.write(ours.get()));
  EXPECT_GT(outlet.size(), 0U) << "a socket takes less";
  outlet.clear();
  EXPECT_EQ(body.use_count(), 1);
  EXPECT_TRUE(outlet.empty());
  theirs.reset();
  outlet.add(*body);
  EXPECT_FALSE(outlet.write(ours.get())) << "nobody is there";
}

}  // namespace
}  // namespace bulkhead
