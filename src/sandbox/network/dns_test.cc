#include "sandbox/network/dns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::dns {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Bytes bytes(std::initializer_list<std::string_view> parts) {
  Bytes result;
  for (const std::string_view part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}
using namespace std::string_view_literals;

// Queries of one question; `tail` is what stands behind it.
constexpr auto kHeader = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"sv;
constexpr auto kHeaderOpt = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"sv;
constexpr auto kName =
    "\x03WwW\x07"
    "Example\x03org\x00"sv;
constexpr auto kAIn = "\x00\x01\x00\x01"sv;
constexpr auto kAaaaIn = "\x00\x1C\x00\x01"sv;
// Answers: one question, N records.
Bytes answer(uint8_t records, std::initializer_list<std::string_view> parts,
             bool truncated = false) {
  Bytes result = bytes({"\x12\x34\x81\x80\x00\x01\x00\x00\x00\x00\x00\x00"sv});
  if (truncated) result[2] |= 0x02;
  result[7] = records;
  for (const std::string_view part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}
constexpr auto kA60 = "\x00\x01\x00\x01\x00\x00\x00\x3C\x00\x04"sv;
constexpr auto kA5 = "\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04"sv;
constexpr auto kOwner = "\xC0\x0C"sv;

std::vector<std::string> texts(const std::vector<Resolved>& list) {
  std::vector<std::string> result;
  result.reserve(list.size());
  for (const Resolved& one : list)
    result.push_back(one.address.to_string() + " " + std::to_string(one.ttl));
  return result;
}

TEST(Dns, ReadsAQuery) {
  const auto query = parse_query(bytes({kHeader, kName, kAIn}));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->id, 0x1234);
  EXPECT_TRUE(query->recursion_desired);
  EXPECT_EQ(query->question.name, "WwW.Example.org");
  EXPECT_EQ(query->question.type, kA);
  EXPECT_EQ(query->question.end, 12 + 17 + 4U);
  EXPECT_FALSE(query->edns);
  EXPECT_EQ(query->payload_limit, kPlainLimit);
}

TEST(Dns, ReadsEdnsAndClampsItsSize) {
  const auto query = parse_query(
      bytes({kHeaderOpt, kName, kAIn, "\x00\x00\x29\xFF\xFF\x00\x00\x80\x00\x00\x00"sv}));
  ASSERT_TRUE(query);
  EXPECT_TRUE(query->edns);
  EXPECT_TRUE(query->dnssec_ok);
  EXPECT_EQ(query->payload_limit, 4096);
}

TEST(Dns, RefusesWhatIsNoPlainQuery) {
  const Bytes good = bytes({kHeader, kName, kAIn});
  ASSERT_TRUE(parse_query(good));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_query(View(good).first(size))) << size;
  Bytes bad = good;
  bad[2] |= 0x80;
  EXPECT_FALSE(parse_query(bad)) << "a response";
  bad = good;
  bad[5] = 2;
  EXPECT_FALSE(parse_query(bad)) << "two questions";
  bad = good;
  bad.push_back(0);
  EXPECT_FALSE(parse_query(bad)) << "bytes behind the question";
  EXPECT_FALSE(parse_query(bytes({kHeader, "\xC0\x0C"sv, kAIn}))) << "a compressed question";
  EXPECT_FALSE(parse_query(bytes({kHeader, "\x40x\x00"sv, kAIn}))) << "a reserved label type";
  EXPECT_FALSE(parse_query(
      bytes({kHeaderOpt, kName, kAIn, "\x00\x00\xFA\x00\x00\x00\x00\x00\x00\x00\x00"sv})))
      << "TSIG";
  EXPECT_FALSE(parse_query(
      bytes({kHeaderOpt, kName, kAIn, "\x00\x00\x29\x04\xD0\x00\x00\x00\x00\x00\x09"sv})))
      << "options beyond the end";
}

TEST(Dns, NamesWithOddBytesAreNoHostNames) {
  const auto query = parse_query(bytes({kHeader,
                                        "\x03"
                                        "a.b\x03org\x00"sv,
                                        kAIn}));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->question.name, "a\\046b.org");
  EXPECT_FALSE(normalize_host(query->question.name));
  const auto zero = parse_query(bytes({kHeader,
                                       "\x03"
                                       "a\0b\x00"sv,
                                       kAIn}));
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero->question.name, "a\\000b");
}

TEST(Dns, NamesEndAt255Bytes) {
  std::string name;
  for (int i = 0; i < 4; ++i) name += '\x3D' + std::string(61, 'a');  // 4 × 62
  const std::string fits = name +
                           "\x05"
                           "aaaaa" +
                           std::string(1, '\0');
  const std::string long_one = name +
                               "\x06"
                               "aaaaaa" +
                               std::string(1, '\0');
  EXPECT_TRUE(parse_query(bytes({kHeader, fits, kAIn})));
  EXPECT_FALSE(parse_query(bytes({kHeader, long_one, kAIn})));
}

TEST(Dns, ReadsAddresses) {
  const auto response = parse_response(answer(
      2, {kName, kAIn, kOwner, kA60, "\xC0\x00\x02\x01"sv, kOwner, kA5, "\xC0\x00\x02\x02"sv}));
  ASSERT_TRUE(response);
  EXPECT_THAT(texts(addresses_of(*response, "www.example.org")),
              ElementsAre("192.0.2.1 60", "192.0.2.2 5"));
  EXPECT_THAT(addresses_of(*response, "other.example.org"), IsEmpty());
}

TEST(Dns, ReadsIpv6AndUnmapsIt) {
  const auto response = parse_response(
      answer(2, {kName, kAaaaIn, kOwner, "\x00\x1C\x00\x01\x00\x00\x00\x3C\x00\x10"sv,
                 "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"sv, kOwner,
                 "\x00\x1C\x00\x01\x00\x00\x00\x3C\x00\x10"sv,
                 "\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x7F\0\0\x01"sv}));
  ASSERT_TRUE(response);
  EXPECT_THAT(texts(addresses_of(*response, "www.example.org")),
              ElementsAre("2001:db8::1 60", "127.0.0.1 60"));
}

TEST(Dns, FollowsAliasesWithTheShortestLife) {
  // www → cdn.example.org (TTL 5) → 192.0.2.7 (TTL 60); the address stands first. The alias's
  // target is compressed: "cdn" and a pointer to "Example" in the question.
  const auto response = parse_response(
      answer(2, {kName, kAIn,
                 "\x03"
                 "CDN\xC0\x10"sv,
                 kA60, "\xC0\x00\x02\x07"sv, kOwner, "\x00\x05\x00\x01\x00\x00\x00\x05\x00\x06"sv,
                 "\x03"
                 "cdn\xC0\x10"sv}));
  ASSERT_TRUE(response);
  EXPECT_THAT(texts(addresses_of(*response, "www.example.org")), ElementsAre("192.0.2.7 5"));
}

TEST(Dns, RecordsOfOthersDoNotCount) {
  const auto response =
      parse_response(answer(2, {kName, kAIn,
                                "\x04"
                                "evil\x00"sv,
                                kA60, "\xC0\x00\x02\x66"sv, kOwner, kA60, "\xC0\x00\x02\x01"sv}));
  ASSERT_TRUE(response);
  EXPECT_THAT(texts(addresses_of(*response, "www.example.org")), ElementsAre("192.0.2.1 60"));
}

TEST(Dns, AliasLoopsEnd) {
  const auto response = parse_response(
      answer(1, {kName, kAIn, kOwner, "\x00\x05\x00\x01\x00\x00\x00\x05\x00\x02"sv, kOwner}));
  ASSERT_TRUE(response);
  EXPECT_THAT(addresses_of(*response, "www.example.org"), IsEmpty());
}

TEST(Dns, PointersLeadBackOnly) {
  // At 33: a pointer to itself; one forward; one into the header.
  for (const auto owner : {"\xC0\x21"sv, "\xC0\x2F"sv, "\xC0\x02"sv})
    EXPECT_FALSE(parse_response(answer(1, {kName, kAIn, owner, kA60, "\xC0\x00\x02\x01"sv})));
  // Two that would lead to each other: the second must lead to before the first's target.
  EXPECT_FALSE(parse_response(answer(1, {kName, kAIn,
                                         "\x01"
                                         "a\xC0\x21"sv,
                                         kA60, "\1\2\3\4"sv})));
}

TEST(Dns, RecordsMustBeWhole) {
  EXPECT_FALSE(
      parse_response(answer(1, {kName, kAIn, kOwner, "\x00\x01\x00\x01\x00\x00\x00\x3C\x00\x05"sv,
                                "\xC0\x00\x02\x01\x00"sv})))
      << "an address of five bytes";
  const Bytes cut =
      answer(2, {kName, kAIn, kOwner, kA60, "\xC0\x00\x02\x01"sv, kOwner, "\x00\x01"sv});
  EXPECT_FALSE(parse_response(cut));
  Bytes truncated = cut;
  truncated[2] |= 0x02;
  const auto response = parse_response(truncated);
  ASSERT_TRUE(response);
  EXPECT_TRUE(response->truncated);
  EXPECT_THAT(texts(addresses_of(*response, "www.example.org")), ElementsAre("192.0.2.1 60"));
}

TEST(Dns, QueriesCarryNothingOfTheClientsChoice) {
  Bytes sent = bytes({kHeaderOpt, kName, kAIn,
                      "\x00\x00\x29\x04\xD0\x00\x00\x00\x00\x00\x0A\x00\x0A\x00\x06secret"sv});
  sent[3] |= 0x40;  // a reserved flag
  const auto query = parse_query(sent);
  ASSERT_TRUE(query);
  const Bytes made = build_query(7, *query, "www.example.org");
  EXPECT_EQ(std::string(made.begin(), made.end()).find("secret"), std::string::npos);
  EXPECT_EQ(made, bytes({"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"sv,
                         "\x03www\x07"
                         "example\x03org\x00"sv,
                         kAIn, "\x00\x00\x29\x04\xD0\x00\x00\x00\x00\x00\x00"sv}));
}

TEST(Dns, AnswersKeepTheSpellingOfTheQuestion) {
  const Bytes message = bytes({kHeader, kName, kAIn});
  const auto query = parse_query(message);
  const std::vector<IpAddress> addresses = {*IpAddress::parse("192.0.2.1")};
  const auto response = parse_response(build_addresses(message, *query, addresses, 60));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->id, 0x1234);
  EXPECT_EQ(response->question.name, "WwW.Example.org");
  EXPECT_THAT(texts(addresses_of(*response, "www.example.org")), ElementsAre("192.0.2.1 60"));
  const auto error = parse_response(build_error(message, *query, Rcode::kNameError));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rcode, Rcode::kNameError);
  const auto truncated = parse_response(build_truncated(message, *query));
  ASSERT_TRUE(truncated);
  EXPECT_TRUE(truncated->truncated);
}

TEST(Dns, ReaddressesAnswersToTheirQuestionOnly) {
  const Bytes message = bytes({kHeader, kName, kAIn});
  const auto query = parse_query(message);
  Bytes from_server =
      build_addresses(build_query(99, *query, "www.example.org"),
                      *parse_query(build_query(99, *query, "www.example.org")), {}, 60);
  ASSERT_TRUE(answers(*parse_response(from_server), *query, "www.example.org"));
  ASSERT_TRUE(readdress(from_server, message, *query));
  const auto response = parse_response(from_server);
  EXPECT_EQ(response->id, 0x1234);
  EXPECT_EQ(response->question.name, "WwW.Example.org");

  const auto other = parse_response(answer(0, {"\x03"
                                               "foo\x00"sv,
                                               kAIn}));
  ASSERT_TRUE(other);
  EXPECT_FALSE(answers(*other, *query, "www.example.org"));
  const auto other_type = parse_response(answer(0, {kName, kAaaaIn}));
  EXPECT_FALSE(answers(*other_type, *query, "www.example.org"));
  Bytes wrong = answer(0, {"\x03"
                           "foo\x00"sv,
                           kAIn});
  const Bytes before = wrong;
  EXPECT_FALSE(readdress(wrong, message, *query));
  EXPECT_EQ(wrong, before);
}

TEST(Dns, FormatErrorsAnswerQueriesOnly) {
  Bytes message = bytes({kHeader, "\xC0\x0C"sv, kAIn});
  const auto error = build_format_error(message);
  ASSERT_TRUE(error);
  EXPECT_EQ((*error)[3] & 0x0F, 1);
  message[2] |= 0x80;
  EXPECT_FALSE(build_format_error(message));
  EXPECT_FALSE(build_format_error(View(message).first(11)));
}

TEST(Dns, ReverseNames) {
  EXPECT_EQ(parse_reverse_name("4.3.2.1.in-addr.arpa"), IpAddress::parse("1.2.3.4"));
  EXPECT_EQ(parse_reverse_name(
                "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"),
            IpAddress::parse("2001:db8::1"));
  for (const auto name :
       {"3.2.1.in-addr.arpa", "5.4.3.2.1.in-addr.arpa", "x.3.2.1.in-addr.arpa", "in-addr.arpa",
        "256.3.2.1.in-addr.arpa", "1.0.0.ip6.arpa", "example.org",
        "1-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-0-8-b-d-0-1-0-0-2.ip6.arpa"})
    EXPECT_FALSE(parse_reverse_name(name)) << name;
}

}  // namespace
}  // namespace bulkhead::dns
