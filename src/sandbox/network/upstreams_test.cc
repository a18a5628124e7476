#include "sandbox/network/upstreams.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace bulkhead {
namespace {

using ::testing::ElementsAre;

std::string text_of(const Upstream& upstream) {
  char text[INET6_ADDRSTRLEN] = {};
  if (upstream.address.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&upstream.address);
    ::inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    return std::string(text) + " " + std::to_string(ntohs(in->sin_port));
  }
  const auto* in = reinterpret_cast<const sockaddr_in6*>(&upstream.address);
  ::inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
  return std::string(text) + " " + std::to_string(ntohs(in->sin6_port)) + " " +
         std::to_string(in->sin6_scope_id);
}

TEST(Upstreams, ReadsAddresses) {
  EXPECT_EQ(text_of(*parse_upstream("192.0.2.1")), "192.0.2.1 53");
  EXPECT_EQ(text_of(*parse_upstream("192.0.2.1:5353")), "192.0.2.1 5353");
  EXPECT_EQ(text_of(*parse_upstream("2001:db8::1")), "2001:db8::1 53 0");
  EXPECT_EQ(text_of(*parse_upstream("[2001:db8::1]")), "2001:db8::1 53 0");
  EXPECT_EQ(text_of(*parse_upstream("[2001:db8::1]:5353")), "2001:db8::1 5353 0");
  EXPECT_EQ(text_of(*parse_upstream("fe80::1%lo")), "fe80::1 53 1");
}

TEST(Upstreams, RefusesTheRestAndNamesIt) {
  for (const auto text : {"", "dns.example", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536",
                          "192.0.2.1:53x", "[2001:db8::1", "[2001:db8::1]53", "[2001:db8::1]:",
                          "fe80::1%no-such-interface", "0x7f000001", "192.0.2.1 "}) {
    const auto upstream = parse_upstream(text);
    ASSERT_FALSE(upstream.ok()) << text;
    EXPECT_THAT(upstream.error().message, ::testing::HasSubstr(text));
  }
}

std::vector<std::string> parsed(std::string_view text) {
  std::vector<std::string> result;
  for (const Upstream& upstream : parse_resolv_conf(text)) result.push_back(text_of(upstream));
  return result;
}

TEST(Upstreams, ReadsResolvConf) {
  EXPECT_THAT(parsed("# nameserver 192.0.2.99\nsearch example.org\nnameserver 192.0.2.1\n"
                     "nameserver\t2001:db8::1  # second\r\nnameserver wrong\nnameserver\n"
                     "nameserversx 192.0.2.98\noptions edns0\nnameserver 192.0.2.2\n"
                     "nameserver 192.0.2.3"),
              ElementsAre("192.0.2.1 53", "2001:db8::1 53 0", "192.0.2.2 53"));
  EXPECT_THAT(parsed(""), ElementsAre("127.0.0.1 53"));
}

}  // namespace
}  // namespace bulkhead
