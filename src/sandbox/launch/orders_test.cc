#include "sandbox/launch/orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace bulkhead {
namespace {

Orders<Written> some_orders() {
  Orders<Written> orders;
  orders.program = "/bin/sh";
  orders.folder = "/";
  orders.arguments = {"sh", "", "-c"};
  orders.environment = {"A=b"};
  orders.numbers = {{0, 1}, {7, 0}};
  orders.landlock = {{"/usr", 5}, {"/w", 9}};
  orders.filter = {{6, 1, 2, 0x7fff0000}, {0x15, 255, 0, 0xffffffff}};
  orders.limits = {{7, 64}};
  orders.mounts.private_trees = {{"/tmp", "mode=1777", {{"/s", "/tmp/p"}}, {"/tmp/a", "/tmp/a/b"}},
                                 {"/dev/shm", "", {}, {}}};
  orders.mounts.home_real = {"/home/me/w"};
  orders.keep_capabilities = 0xff;
  return orders;
}

// Buffers of the very size, so that AddressSanitizer sees a byte too many.
struct Given {
  Given(std::string_view from, size_t for_lists)
      : size(from.size()), text(new char[size]), room_size(for_lists), room(new char[room_size]()) {
    std::memcpy(text.get(), from.data(), size);
  }
  explicit Given(std::string_view from) : Given(from, room_for_orders(from.size())) {}
  bool read() { return read_orders({text.get(), size}, {room.get(), room_size}, orders); }
  size_t size;
  std::unique_ptr<char[]> text;
  size_t room_size;
  std::unique_ptr<char[]> room;
  Orders<Read> orders;
};

TEST(OrdersTest, AreReadAsTheyWereWritten) {
  Orders<Written> written = some_orders();
  Given given(write_orders(written));
  ASSERT_TRUE(given.read());
  const Orders<Read>& orders = given.orders;
  EXPECT_STREQ(orders.program, "/bin/sh");
  ASSERT_EQ(orders.arguments.size(), 3u);
  EXPECT_STREQ(orders.arguments[1], "");
  EXPECT_STREQ(orders.arguments[2], "-c");
  EXPECT_EQ(orders.arguments.data()[3], nullptr);  // as execve wants it
  EXPECT_EQ(orders.environment.data()[1], nullptr);
  ASSERT_EQ(orders.numbers.size(), 2u);
  EXPECT_EQ(orders.numbers[1].number, 7u);
  EXPECT_EQ(orders.numbers[1].given, 0u);
  ASSERT_EQ(orders.landlock.size(), 2u);
  EXPECT_STREQ(orders.landlock[1].path, "/w");
  EXPECT_EQ(orders.landlock[1].access, 9u);
  ASSERT_EQ(orders.filter.size(), 2u);
  EXPECT_EQ(std::memcmp(orders.filter.data(), written.filter.data(), 2 * sizeof(sock_filter)), 0);
  ASSERT_EQ(orders.limits.size(), 1u);
  EXPECT_EQ(orders.limits[0].most, 64u);
  ASSERT_EQ(orders.mounts.private_trees.size(), 2u);
  const auto& tree = orders.mounts.private_trees[0];
  EXPECT_STREQ(tree.options, "mode=1777");
  ASSERT_EQ(tree.binds.size(), 1u);
  EXPECT_STREQ(tree.binds[0].place, "/tmp/p");
  ASSERT_EQ(tree.folders.size(), 2u);
  EXPECT_STREQ(tree.folders[1], "/tmp/a/b");
  EXPECT_EQ(orders.mounts.hidden.size(), 0u);
  EXPECT_EQ(orders.keep_capabilities, 0xffu);
}

TEST(OrdersTest, WhatIsCutShortOrTooLongIsRefused) {
  Orders<Written> written = some_orders();
  const std::string text = write_orders(written);
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(Given(text.substr(0, size)).read()) << size;
  EXPECT_FALSE(Given(text + '\0').read());
}

TEST(OrdersTest, ABrokenNumberReachesNothing) {
  Orders<Written> written = some_orders();
  const std::string text = write_orders(written);
  int refused = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string broken = text;
      broken[at] = value;
      refused += Given(broken).read() ? 0 : 1;
    }
  }
  // Most of the text are lengths and counts, and each of these is wrong then.
  EXPECT_GT(refused, static_cast<int>(text.size()));
}

TEST(OrdersTest, ATextHoldsNoNullByte) {
  Orders<Written> written = some_orders();
  written.program = std::string("/bin/sh\0/etc", 12);
  EXPECT_FALSE(Given(write_orders(written)).read());
}

TEST(OrdersTest, ListsDoNotOutgrowTheirRoom) {
  Orders<Written> written = some_orders();
  written.arguments.assign(10000, "");
  const std::string text = write_orders(written);
  EXPECT_TRUE(Given(text).read());
  EXPECT_FALSE(Given(text, 4096).read());
  EXPECT_FALSE(Given(text, 0).read());
}

}  // namespace
}  // namespace bulkhead
