#include "base/spelling.h"

#include <gtest/gtest.h>

#include <array>

namespace bulkhead {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"run", "explain", "log", "read", "write"};

TEST(Spelling, NearestIsWithinTwoMistakes) {
  EXPECT_EQ(nearest("rn", kWords), "run");
  EXPECT_EQ(nearest("explian", kWords), "explain");
  EXPECT_EQ(nearest("logs", kWords), "log");
  EXPECT_EQ(nearest("read", kWords), "read");
  EXPECT_EQ(nearest("raed", kWords), "read");
  EXPECT_EQ(nearest("rlaed", kWords), "");
  EXPECT_EQ(nearest("xyzzy", kWords), "");
}

TEST(Spelling, NoWordIsMeantByHalfOfItsLettersBeingWrong) {
  EXPECT_EQ(nearest("", kWords), "");
  constexpr std::array<std::string_view, 1> kShort = {"code"};
  EXPECT_EQ(nearest("nope", kShort), "");
}

TEST(Spelling, LongWordsAreNotCompared) {
  EXPECT_EQ(nearest(std::string(1 << 20, 'x'), kWords), "");
}

TEST(Spelling, SuggestsOneOrNamesAll) {
  EXPECT_EQ(suggestion("wirte", kWords), "did you mean \"write\"?");
  constexpr std::array<std::string_view, 2> kTwo = {"ask", "deny"};
  EXPECT_EQ(suggestion("whatever", kTwo), "known are \"ask\", \"deny\"");
}

}  // namespace
}  // namespace bulkhead
