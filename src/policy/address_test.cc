#include "policy/address.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace bulkhead {
namespace {

IpAddress ip(const char* text) {
  const auto address = IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return address.value_or(IpAddress());
}

TEST(IpAddress, ParsesStrictly) {
  EXPECT_EQ(ip("192.168.0.1").to_string(), "192.168.0.1");
  EXPECT_EQ(ip("2001:DB8:0:0::1").to_string(), "2001:db8::1");
  for (const char* bad : {"", "1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5",
                          "1.2.3.256", "1.2.3", "1.2.3.4 ", " 1.2.3.4", "[::1]", "fe80::1%eth0",
                          "::g", "1::2::3", "::1/64", "2130706433", "1.2.3.4\n"})
    EXPECT_FALSE(IpAddress::parse(bad)) << bad;
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0", 8)));
}

TEST(IpAddress, MappedAddressesAreWhatTheyReach) {
  EXPECT_TRUE(ip("::ffff:127.0.0.1").is_v4());
  EXPECT_EQ(ip("::ffff:127.0.0.1"), ip("127.0.0.1"));
  EXPECT_TRUE(ip("::ffff:7f00:1").is_loopback());
  EXPECT_NE(ip("::1"), ip("0.0.0.1"));
}

TEST(IpAddress, Loopback) {
  for (const char* text : {"127.0.0.1", "127.255.255.255", "0.0.0.0", "::1", "::"})
    EXPECT_TRUE(ip(text).is_loopback()) << text;
  for (const char* text : {"126.255.255.255", "128.0.0.1", "1.0.0.0", "0.0.0.1", "0.1.2.3",
                           "::ffff:0.1.2.3", "::2", "::1:1"})
    EXPECT_FALSE(ip(text).is_loopback()) << text;
}

TEST(IpAddress, SpecialAddresses) {
  for (const char* text :
       {"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "100.100.100.200", "127.0.0.1", "168.63.129.16", "169.254.169.254", "172.16.0.0",
        "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.255.255",
        "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1",
        "239.255.255.255", "240.0.0.1", "255.255.255.255",
        // IPv6
        "::", "::1", "::2", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fdff::1", "fd00:ec2::254",
        "ff02::1", "ff0e::1", "2001:db8::1", "2001:2::1", "2001:10::1", "2001:20::1", "3fff::1",
        "3fff:fff::1", "100::1", "5f00::1", "4000::1", "2620:4f:8000::1",
        // IPv4 in disguise
        "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8", "2002:7f00:1::", "2002:a00:1::1",
        "2001:0:808:808:0:0:f5ff:fffe",  // Teredo: client 10.0.0.1
        "2001:0:a00:1::f7f7:f7f7",       // Teredo: server 10.0.0.1
        "2001:41d0::5efe:10.0.0.1", "2001:41d0::200:5efe:192.168.0.1"})
    EXPECT_TRUE(ip(text).is_special()) << text;
  for (const char* text : {"1.1.1.1",         "8.8.8.8",
                           "9.255.255.255",   "11.0.0.0",
                           "100.63.255.255",  "100.128.0.0",
                           "126.255.255.255", "128.0.0.0",
                           "168.63.129.15",   "169.253.255.255",
                           "169.255.0.0",     "172.15.255.255",
                           "172.32.0.0",      "192.0.1.0",
                           "192.167.255.255", "192.169.0.0",
                           "198.17.255.255",  "198.20.0.0",
                           "223.255.255.255", "2001:4860:4860::8888",
                           "2606:4700::1111", "2a00::1",
                           "3ffe:ffff::1",    "64:ff9b::8.8.8.8",
                           "2002:808:808::1", "2001:0:808:808:0:0:f7f7:f7f7",
                           "::ffff:8.8.8.8",  "2001:41d0::5efe:8.8.8.8",
                           "2001:200::1"})
    EXPECT_FALSE(ip(text).is_special()) << text;
}

TEST(IpAddress, InNetwork) {
  EXPECT_TRUE(ip("10.1.2.3").in_network(ip("10.0.0.0"), 8));
  EXPECT_FALSE(ip("11.1.2.3").in_network(ip("10.0.0.0"), 8));
  EXPECT_TRUE(ip("1.2.3.4").in_network(ip("0.0.0.0"), 0));
  EXPECT_TRUE(ip("10.128.0.1").in_network(ip("10.128.0.0"), 9));
  EXPECT_FALSE(ip("10.127.0.1").in_network(ip("10.128.0.0"), 9));
  EXPECT_TRUE(ip("fd00::1").in_network(ip("fd00::"), 8));
  EXPECT_FALSE(ip("fd00::1").in_network(ip("0.0.0.0"), 0));
  EXPECT_FALSE(ip("1.2.3.4").in_network(ip("::"), 0));
  EXPECT_FALSE(ip("1.2.3.4").in_network(ip("1.2.3.4"), 33));
}

TEST(IpAddress, NetworksThatAreSpecialThroughout) {
  EXPECT_TRUE(network_is_special(ip("10.0.0.0"), 8));
  EXPECT_TRUE(network_is_special(ip("10.1.0.0"), 16));
  EXPECT_FALSE(network_is_special(ip("8.0.0.0"), 6));
  EXPECT_FALSE(network_is_special(ip("0.0.0.0"), 0));
  EXPECT_TRUE(network_is_special(ip("fc00::"), 7));
  EXPECT_FALSE(network_is_special(ip("::"), 0));
  EXPECT_FALSE(network_is_special(ip("2000::"), 3));
  EXPECT_FALSE(network_is_special(ip("64:ff9b::"), 96));
  EXPECT_FALSE(network_is_special(ip("64:ff9b::"), 64));
  EXPECT_TRUE(network_is_special(ip("64:ff9b::a00:0"), 104));
  EXPECT_TRUE(network_is_special(ip("2002:a00::"), 24));
}

TEST(NormalizeHost, LowersAndTrims) {
  EXPECT_EQ(normalize_host("API.Example.COM."), "api.example.com");
  EXPECT_EQ(normalize_host("localhost"), "localhost");
  EXPECT_EQ(normalize_host("_srv._tcp.x-1.org"), "_srv._tcp.x-1.org");
  EXPECT_EQ(normalize_host("xn--bcher-kva.example"), "xn--bcher-kva.example");
  const std::string longest = fmt::format("{}.b", std::string(63, 'a'));
  EXPECT_EQ(normalize_host(longest), longest);
}

TEST(NormalizeHost, RefusesWhatIsNoName) {
  for (const char* bad : {"",      ".",       "..",  ".a",  "a..b",       "a.b..", "-a.b",
                          "a-.b",  "a.-b",    "a b", "a/b", "a:b",        "a*",    "bücher.de",
                          "127.1", "1.2.3.4", "123", "a.1", "1.2.3.0x10", "a.0x",  "a\n"})
    EXPECT_FALSE(normalize_host(bad)) << bad;
  EXPECT_FALSE(normalize_host(std::string(64, 'a')));
  std::string longest;
  for (int i = 0; i < 127; ++i) longest += "a.";
  EXPECT_FALSE(normalize_host(longest + "b"));  // 255
  EXPECT_TRUE(normalize_host(longest.substr(2) + "b"));
  EXPECT_FALSE(normalize_host(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace bulkhead
