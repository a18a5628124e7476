#include "policy/port_rule.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(PortRule, OneSpelling) {
  for (const char* text : {"1", "5173", "65535", "8000-8010", "*"})
    EXPECT_EQ(parse_port_range(text)->text(), text);
  EXPECT_EQ(parse_port_range("80-80")->text(), "80");
  EXPECT_EQ(parse_port_range("1-65535")->text(), "*");
}

TEST(PortRule, NothingElse) {
  for (const char* text : {"", "0", "65536", "-1", "1-", "-", "2-1", "0-5", "080", "+80", " 80",
                           "80 ", "0x50", "http", "80,81", "1-2-3", "localhost:80"})
    EXPECT_FALSE(parse_port_range(text).ok()) << text;
}

TEST(PortRule, Holds) {
  const PortRange range = *parse_port_range("8000-8010");
  EXPECT_TRUE(range.holds(8000) && range.holds(8010));
  EXPECT_FALSE(range.holds(7999) || range.holds(8011));
  EXPECT_TRUE(range.holds(PortRange{8001, 8002}) && PortRange().holds(range));
  EXPECT_FALSE(range.holds(PortRange{8001, 8011}));
}

}  // namespace
}  // namespace bulkhead
