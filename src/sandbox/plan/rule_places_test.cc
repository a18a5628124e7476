#include "sandbox/plan/rule_places.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
namespace {

bool always(const LandlockRule& /*rule*/) { return true; }

TEST(RulePlaces, ARuleGoesAlongWithItsFolderAndIsStillWhereItWas) {
  RulePlaces places({{"/w/a/tool", 1}, {"/w/ab", 2}});
  EXPECT_TRUE(places.move("/w/a", "/w/b", always));
  std::vector<std::string> met;
  const auto meets = [&met](const LandlockRule& rule) {
    met.push_back(rule.path);
    return true;
  };
  for (const char* from : {"/w/a", "/w/b"}) EXPECT_TRUE(places.move(from, "/w/c", meets));
  EXPECT_EQ(met, (std::vector<std::string>{"/w/c/tool", "/w/c/tool"}));
}

TEST(RulePlaces, WhatMayNotBeThereIsNotNoted) {
  RulePlaces places({{"/w/tool", 1}});
  const auto never = [](const LandlockRule& rule) { return rule.path != "/w/tmp/tool"; };
  EXPECT_FALSE(places.move("/w/tool", "/w/tmp/tool", never));
  EXPECT_TRUE(places.move("/w/tmp/tool", "/etc/passwd", [](const LandlockRule&) { return false; }));
}

// A program can rename what has a rule as often as it likes; the names are the supervisor's memory.
TEST(RulePlaces, NamesEndWithTheRoomForThemAndKnownOnesNeedNone) {
  constexpr size_t kLong = 4000, kMost = size_t{8} << 20U;
  RulePlaces places({{"/w/0", 1}});
  size_t noted = 0;
  const auto name = [&](size_t number) {
    return "/w/" + std::to_string(number) + std::string(kLong, 'x');
  };
  while (noted < kMost / kLong && places.move("/w/0", name(noted), always)) ++noted;
  EXPECT_GT(noted, 2000U);
  EXPECT_LE(noted * kLong, kMost);
  EXPECT_FALSE(places.move("/w/0", name(noted), always));
  EXPECT_TRUE(places.move("/w/0", name(0), always));
  EXPECT_TRUE(places.move(name(0), "/w/0", always));
}

}  // namespace
}  // namespace bulkhead
