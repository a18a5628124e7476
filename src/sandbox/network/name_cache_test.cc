#include "sandbox/network/name_cache.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

IpAddress ip(std::string_view text) { return *IpAddress::parse(text); }

class NameCacheTest : public ::testing::Test {
 protected:
  NameCache::Clock::time_point now_{};
  NameCache cache_{[this] { return now_; }};
};

TEST_F(NameCacheTest, AnswersLiveForTheirTimeAndTheGrace) {
  cache_.add(ip("192.0.2.1"), "a.example", seconds(100));
  now_ += seconds(100) + NameCache::kGrace - seconds(1);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), ElementsAre("a.example"));
  now_ += seconds(1);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), IsEmpty());
}

TEST_F(NameCacheTest, LivesAreClamped) {
  cache_.add(ip("192.0.2.1"), "short.example", seconds(0));
  cache_.add(ip("192.0.2.1"), "long.example", seconds(1'000'000));
  now_ += NameCache::kShortest + NameCache::kGrace - seconds(1);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), ElementsAre("long.example", "short.example"));
  now_ += seconds(1);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), ElementsAre("long.example"));
  now_ += NameCache::kLongest - NameCache::kShortest;
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), IsEmpty());
}

TEST_F(NameCacheTest, ALaterAnswerProlongsButNeverShortens) {
  cache_.add(ip("192.0.2.1"), "a.example", seconds(1000));
  cache_.add(ip("192.0.2.1"), "a.example", seconds(30));
  now_ += seconds(900) + NameCache::kGrace;
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), ElementsAre("a.example"));
  cache_.add(ip("192.0.2.1"), "a.example", seconds(1000));
  now_ += seconds(900);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), ElementsAre("a.example"));
}

TEST_F(NameCacheTest, AddressesAreBoundedAndTheOldestGoes) {
  cache_.add(ip("192.0.2.1"), "first.example", seconds(60));
  for (size_t i = 1; i < NameCache::kMaxAddresses; ++i)
    cache_.add(ip(fmt::format("10.{}.{}.1", i / 256, i % 256)), "b.example", seconds(600));
  EXPECT_EQ(cache_.addresses(), NameCache::kMaxAddresses);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), ElementsAre("first.example"));
  cache_.add(ip("192.0.2.2"), "c.example", seconds(600));
  EXPECT_EQ(cache_.addresses(), NameCache::kMaxAddresses);
  EXPECT_THAT(cache_.names(ip("192.0.2.1")), IsEmpty());
  EXPECT_THAT(cache_.names(ip("192.0.2.2")), ElementsAre("c.example"));
  now_ += seconds(600) + NameCache::kGrace;
  cache_.add(ip("192.0.2.3"), "d.example", seconds(600));
  EXPECT_EQ(cache_.addresses(), 1U) << "dead ones make room first";
}

TEST_F(NameCacheTest, NamesOfAnAddressAreBounded) {
  for (size_t i = 0; i < 100; ++i)
    cache_.add(ip("192.0.2.1"), fmt::format("n{}.example", i), seconds(30 + static_cast<int>(i)));
  const auto names = cache_.names(ip("192.0.2.1"));
  EXPECT_EQ(names.size(), NameCache::kMaxNamesPerAddress);
  EXPECT_THAT(names, ::testing::Contains("n99.example"));
}

TEST_F(NameCacheTest, ReadsTheHostsFile) {
  cache_.load_hosts(
      "# comment\n"
      "127.0.0.1 localhost localhost.localdomain app.localhost\n"
      "::1 ip6-localhost localhost6 ip6-loopback\n"
      "192.0.2.9\tBuild.Example.  build # the farm\r\n"
      "192.0.2.10 build.example\n"
      "2001:db8::9 build.example\n"
      "not-an-address name.example\n"
      "0x7f.1 tricky.example\n"
      "192.0.2.11 bad/name good.example\n"
      "192.0.2.12 last.example");
  EXPECT_THAT(cache_.hosts("build.example"),
              ElementsAre(ip("192.0.2.9"), ip("192.0.2.10"), ip("2001:db8::9")));
  EXPECT_THAT(cache_.names(ip("192.0.2.9")), ElementsAre("build", "build.example"));
  EXPECT_THAT(cache_.hosts("last.example"), ElementsAre(ip("192.0.2.12")));
  EXPECT_THAT(cache_.hosts("good.example"), ElementsAre(ip("192.0.2.11")));
  for (const auto name : {"localhost", "localhost.localdomain", "app.localhost", "localhost6",
                          "ip6-localhost", "name.example", "tricky.example"})
    EXPECT_THAT(cache_.hosts(name), IsEmpty()) << name;
  cache_.add(ip("192.0.2.9"), "a.example", seconds(60));
  EXPECT_THAT(cache_.names(ip("192.0.2.9")), ElementsAre("a.example", "build", "build.example"));
}

TEST_F(NameCacheTest, AListOfBlockedNamesDoesNotGrowWithoutEnd) {
  std::string text;
  for (size_t i = 0; i < NameCache::kMaxHosts + 10; ++i)
    text += fmt::format("0.0.0.0 ad{}.example\n", i);
  cache_.load_hosts(text);
  EXPECT_THAT(cache_.hosts("ad0.example"), ElementsAre(ip("0.0.0.0")));
  EXPECT_THAT(cache_.hosts(fmt::format("ad{}.example", NameCache::kMaxHosts + 1)), IsEmpty());
  EXPECT_LE(cache_.names(ip("0.0.0.0")).size(), NameCache::kMaxNamesPerAddress);
}

}  // namespace
}  // namespace bulkhead
