#include "base/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace bulkhead {
namespace {

TEST(Hex, TwoDigitsForEachByte) {
  EXPECT_EQ(hex({}), "");
  EXPECT_EQ(hex(std::array<unsigned char, 5>{0x00, 0x0a, 0x7f, 0x80, 0xff}), "000a7f80ff");
}

}  // namespace
}  // namespace bulkhead
