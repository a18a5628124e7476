// decide_connect() and decide_lookup() as a manifest and a blocklist make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "policy/policy.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using testing::blocklist;
using testing::compiled;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;
using testing::refused;

constexpr auto kAllow = Verdict::kAllow, kDeny = Verdict::kDeny;

struct Network {
  std::shared_ptr<const Policy> policy;
  Verdict connect(const char* address, uint16_t port,
                  std::initializer_list<std::string_view> names = {}) const {
    return policy
        ->decide_connect(*IpAddress::parse(address), port, std::span(names.begin(), names.size()))
        .verdict;
  }
  Verdict lookup(const char* name) const { return policy->decide_lookup(name).verdict; }
};

Network network(std::initializer_list<const char*> grants,
                std::initializer_list<const char*> blocks = {}) {
  PolicyInputs in = inputs();
  in.manifest.network = entries(grants);
  BlockGroup group;
  group.name = "net";
  group.network = entries(blocks);
  in.blocklists.push_back(blocklist(Blocklist::Source::kOrganisation, group));
  return {compiled(in)};
}

TEST(NetworkPolicy, ByNameAndPort) {
  const Network n = network({"api.example.com:443", "*.cdn.net:80-90"});
  EXPECT_EQ(n.connect("8.8.8.8", 443, {"api.example.com"}), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 443, {"other", "api.example.com"}), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 443), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 80, {"api.example.com"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 443, {"x.api.example.com"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 85, {"a.b.cdn.net"}), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 85, {"cdn.net"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 85, {"xcdn.net"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 91, {"a.cdn.net"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 0, {"a.cdn.net"}), kDeny);
  EXPECT_EQ(n.lookup("api.example.com"), kAllow);
  EXPECT_EQ(n.lookup("a.cdn.net"), kAllow);
  EXPECT_EQ(n.lookup("cdn.net"), kDeny);
  EXPECT_EQ(n.lookup("example.com"), kDeny);
  EXPECT_EQ(n.lookup(""), kDeny);
}

TEST(NetworkPolicy, ANameNeverGrantsASpecialAddress) {
  const Network n = network({"api.example.com:443", "*:443", "*.example.com:443"});
  for (const char* address : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1",
                              "0.0.0.0", "::ffff:127.0.0.1", "64:ff9b::a00:1"})
    EXPECT_EQ(n.connect(address, 443, {"api.example.com"}), kDeny) << address;
  EXPECT_EQ(n.connect("8.8.8.8", 443), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 80), kDeny);
  EXPECT_EQ(n.lookup("any.thing"), kAllow);
}

TEST(NetworkPolicy, Addresses) {
  const Network n = network({"10.0.0.5:443", "192.168.0.0/16:*", "[fd00::/8]:1", "8.0.0.0/6:2"});
  EXPECT_EQ(n.connect("10.0.0.5", 443), kAllow);
  EXPECT_EQ(n.connect("::ffff:10.0.0.5", 443), kAllow);
  EXPECT_EQ(n.connect("10.0.0.6", 443), kDeny);
  EXPECT_EQ(n.connect("192.168.9.9", 9), kAllow);
  EXPECT_EQ(n.connect("fd12::1", 1), kAllow);
  EXPECT_EQ(n.connect("fc12::1", 1), kDeny);
  // 8.0.0.0/6 covers 10.0.0.0/8, but speaks of public addresses only.
  EXPECT_EQ(n.connect("8.8.8.8", 2), kAllow);
  EXPECT_EQ(n.connect("10.0.0.1", 2), kDeny);
  EXPECT_EQ(n.connect("11.0.0.1", 2), kAllow);
  EXPECT_EQ(n.lookup("a.b"), kDeny);
}

TEST(NetworkPolicy, Localhost) {
  const Network n = network({"localhost:8080"});
  EXPECT_EQ(n.connect("127.0.0.1", 8080), kAllow);
  EXPECT_EQ(n.connect("127.9.9.9", 8080), kAllow);
  EXPECT_EQ(n.connect("::1", 8080), kAllow);
  EXPECT_EQ(n.connect("127.0.0.1", 8081), kDeny);
  EXPECT_EQ(n.connect("10.0.0.1", 8080, {"localhost"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 8080, {"localhost"}), kDeny);
  EXPECT_EQ(n.lookup("localhost"), kAllow);
  EXPECT_EQ(n.lookup("a.localhost"), kAllow);
  EXPECT_EQ(n.lookup("notlocalhost"), kDeny);
}

TEST(NetworkPolicy, Blocks) {
  const Network n = network({"*.example.com:*", "10.0.0.0/8:*"},
                            {"evil.example.com:*", "half.example.com:80", "10.6.6.6:*"});
  EXPECT_EQ(n.connect("8.8.8.8", 1, {"ok.example.com"}), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 1, {"ok.example.com", "evil.example.com"}), kDeny);
  EXPECT_EQ(n.lookup("evil.example.com"), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 80, {"half.example.com"}), kDeny);
  EXPECT_EQ(n.connect("8.8.8.8", 81, {"half.example.com"}), kAllow);
  EXPECT_EQ(n.lookup("half.example.com"), kAllow);
  EXPECT_EQ(n.connect("10.6.6.6", 1), kDeny);
  EXPECT_EQ(n.connect("10.6.6.7", 1), kAllow);
  // As a block, "*" means every address.
  const Network all = network({"10.0.0.5:443", "a.b:443"}, {"*:443"});
  EXPECT_EQ(all.connect("10.0.0.5", 443), kDeny);
  EXPECT_EQ(all.lookup("a.b"), kAllow);
  EXPECT_EQ(network({"a.b:443"}, {"*:*"}).lookup("a.b"), kDeny);
}

TEST(NetworkPolicy, AnyHostBesideABlockByNameIsRefused) {
  PolicyInputs in = inputs();
  in.manifest.network = entries({"*:443"});
  BlockGroup group;
  group.name = "net";
  group.network = entries({"evil.com:443"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kUser, group));
  EXPECT_THAT(refused(in), HasSubstr("cannot be enforced"));
  // Who never wrote that block by hand, but answered "never" once, learns where to take it back.
  in.blocklists.back().groups.back().network.back().where = {"/g.json", 4, 5, "answers[0]"};
  EXPECT_THAT(refused(in), HasSubstr("at /g.json:4:5"));
  in.manifest.network = entries({"0.0.0.0/0:*"});
  EXPECT_THAT(refused(in), HasSubstr("cannot be enforced"));
  in.manifest.network = entries({"*:80"});
  EXPECT_NE(compiled(in), nullptr);
}

// An answer given in advance, for those about whom a person would be asked, and no block.
TEST(NetworkPolicy, TelemetryIsRefusedWithoutAQuestionUnlessGranted) {
  PolicyInputs in = inputs();
  in.manifest.otherwise = Otherwise::kAsk;
  BlockGroup group;
  group.name = "telemetry";
  group.network = entries({"*.collect.example:*", "one.example:*"});
  in.blocklists.push_back(blocklist(Blocklist::Source::kTelemetry, group));
  const auto source = [](const Network& n, const char* name) {
    return n.policy->rule(n.policy->decide_lookup(name).rule).source;
  };
  Network n{compiled(in)};
  for (const char* name : {"eu.collect.example", "one.example"}) {
    EXPECT_EQ(n.lookup(name), kDeny) << name;
    EXPECT_EQ(source(n, name), Rule::Source::kTelemetry) << name;
    EXPECT_EQ(n.connect("8.8.8.8", 443, {name}), kDeny) << name;
  }
  for (const char* name : {"collect.example", "two.example", "one.example.net"}) {
    EXPECT_EQ(n.lookup(name), Verdict::kAsk) << name;
    EXPECT_EQ(n.connect("8.8.8.8", 443, {name}), Verdict::kAsk) << name;
  }
  EXPECT_EQ(n.connect("8.8.8.8", 443), Verdict::kAsk) << "an address is nobody's name";
  in.manifest.network = entries({"one.example:443"});
  n = {compiled(in)};
  EXPECT_EQ(n.lookup("one.example"), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 443, {"one.example"}), kAllow);
  EXPECT_EQ(n.connect("8.8.8.8", 80, {"one.example"}), kDeny);
  in.manifest.network = entries({"*:443"});
  EXPECT_EQ(Network{compiled(in)}.connect("8.8.8.8", 443, {"one.example"}), kAllow);
  in.manifest.network = {};
  in.blocklists.push_back(blocklist(Blocklist::Source::kUser, {}));
  in.blocklists.back().telemetry = Otherwise::kAsk;
  EXPECT_EQ(Network{compiled(in)}.lookup("one.example"), Verdict::kAsk) << "as the user wants it";
  in.blocklists.back().telemetry.reset();
  in.manifest.otherwise = Otherwise::kDeny;
  n = {compiled(in)};
  EXPECT_EQ(source(n, "one.example"), Rule::Source::kOtherwise);
}

}  // namespace
}  // namespace bulkhead
