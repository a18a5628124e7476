#include "sandbox/pool.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(Pool, LeavesDescriptorsForAllElse) {
  EXPECT_EQ(Pool::most_threads(0), 16U);
  EXPECT_LE(Pool::most_threads(1024) * 4, 1024U - 600);
  EXPECT_EQ(Pool::most_threads(1U << 20U), Pool::kMostThreads);
}

}  // namespace
}  // namespace bulkhead
