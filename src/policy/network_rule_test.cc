#include "policy/network_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

std::string spelling(std::string_view text) {
  const auto parsed = parse_network(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : to_string(parsed.error()));
  return parsed.ok() ? parsed->text() : "";
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_network(text);
  EXPECT_FALSE(parsed.ok()) << text;
  if (parsed.ok()) return "";
  EXPECT_NE(parsed.error().diagnostics.at(0).fix, "") << text;
  return parsed.error().message + " | " + parsed.error().diagnostics.at(0).fix;
}

TEST(NetworkRule, Parses) {
  EXPECT_EQ(spelling("API.Example.com.:443"), "api.example.com:443");
  EXPECT_EQ(spelling("*.example.com:8000-8100"), "*.example.com:8000-8100");
  EXPECT_EQ(spelling("10.0.0.0/8:*"), "10.0.0.0/8:*");
  EXPECT_EQ(spelling("10.0.0.5:443"), "10.0.0.5:443");
  EXPECT_EQ(spelling("[FD00::1]:443"), "[fd00::1]:443");
  EXPECT_EQ(spelling("[fd00::/8]:443"), "[fd00::/8]:443");
  EXPECT_EQ(spelling("[::ffff:10.0.0.1]:1"), "10.0.0.1:1");
  EXPECT_EQ(spelling("LOCALHOST:80"), "localhost:80");
  EXPECT_EQ(spelling("*:443"), "*:443");
  EXPECT_EQ(spelling("*:1-65535"), "*:*");
  EXPECT_EQ(spelling("x.localhost:80"), "x.localhost:80");
}

TEST(NetworkRule, RefusesWithAFix) {
  EXPECT_THAT(refusal("https://example.com/"), HasSubstr("URL"));
  EXPECT_THAT(refusal("example.com"), HasSubstr("write \"example.com:443\""));
  EXPECT_THAT(refusal("example.com:"), HasSubstr("port is missing"));
  EXPECT_THAT(refusal("[::1]"), HasSubstr("port is missing"));
  EXPECT_THAT(refusal("[::1:80"), HasSubstr("without \"]\""));
  EXPECT_THAT(refusal("::1:80"), HasSubstr("brackets"));
  EXPECT_THAT(refusal("[10.0.0.1]:80"), HasSubstr("no IPv6 address"));
  EXPECT_THAT(refusal("[fe80::1%eth0]:80"), HasSubstr("no IPv6 address"));
  EXPECT_THAT(refusal("10.0.0.1/8:80"), HasSubstr("write 10.0.0.0/8"));
  EXPECT_THAT(refusal("10.0.0.0/33:80"), HasSubstr("no prefix length"));
  EXPECT_THAT(refusal("10.0.0.0/08:80"), HasSubstr("no prefix length"));
  EXPECT_THAT(refusal("[::ffff:10.0.0.0/104]:80"), HasSubstr("IPv4-mapped"));
  EXPECT_THAT(refusal("127.1:80"), HasSubstr("four decimal numbers"));
  EXPECT_THAT(refusal("0x7f000001:80"), HasSubstr("no host"));
  EXPECT_THAT(refusal("foo*.com:80"), HasSubstr("stands alone"));
  EXPECT_THAT(refusal("*.*.com:80"), HasSubstr("no host"));
  EXPECT_THAT(refusal("*.:80"), HasSubstr("no host"));
  EXPECT_THAT(refusal(":80"), HasSubstr("no host"));
  EXPECT_THAT(refusal("b\xC3\xBC"
                      "cher.de:443"),
              HasSubstr("xn--"));
  for (const char* port : {"0", "65536", "99999999999", "80-", "-80", "90-80", "8o", "080", "+80"})
    EXPECT_THAT(refusal(std::string("a.b:") + port), HasSubstr("is no port")) << port;
}

}  // namespace
}  // namespace bulkhead
