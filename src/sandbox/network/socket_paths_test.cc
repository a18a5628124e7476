#include "sandbox/network/socket_paths.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(SocketPaths, AreKnownByTheSocketAndItsName) {
  SocketPaths paths;
  EXPECT_TRUE(paths.empty());
  paths.add(7, "folder/name");
  EXPECT_FALSE(paths.empty());
  EXPECT_EQ(paths.find(7, "name"), "folder/name");
  EXPECT_EQ(paths.find(8, "name"), "");
  EXPECT_EQ(paths.find(7, "other"), "") << "a number that is another socket's by now";
  EXPECT_EQ(paths.find(7, ""), "");
  paths.add(7, "later/name");
  EXPECT_EQ(paths.find(7, "name"), "later/name");
}

TEST(SocketPaths, AreBounded) {
  SocketPaths paths;
  for (ino_t i = 0; i <= SocketPaths::kMost; ++i) paths.add(i, "a/b");
  EXPECT_EQ(paths.find(0, "b"), "");
  EXPECT_EQ(paths.find(1, "b"), "a/b");
}

}  // namespace
}  // namespace bulkhead
