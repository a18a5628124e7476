// Ports that a compartment publishes: what a manifest, flags, answers and blocks make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/explain.h"
#include "policy/lint.h"
#include "policy/merge.h"
#include "policy/review.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using testing::blocklist;
using testing::compiled;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;
using ::testing::IsEmpty;
using testing::refused;

Manifest manifest_of(const std::string& network) {
  auto parsed =
      parse_manifest(ManifestBytes::of("m.json", R"({"manifest":1,"network":)" + network + "}"));
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : to_string(parsed.error()));
  return parsed.ok() ? std::move(*parsed) : Manifest();
}

PolicyInputs inputs_of(const std::string& network) {
  PolicyInputs in = inputs();
  in.manifest = manifest_of(network);
  return in;
}

Verdict at(const Policy& policy, int port) {
  return policy.decide_listen(static_cast<uint16_t>(port)).verdict;
}

TEST(ListenPolicy, BothFormsOfNetwork) {
  const Manifest list = manifest_of(R"(["a:1"])");
  EXPECT_EQ(list.network.size(), 1U);
  EXPECT_THAT(list.listen, IsEmpty());
  const Manifest object = manifest_of(R"({"connect":["a:1"],"listen":[5173,"8000-8010"]})");
  EXPECT_EQ(object.network.size(), 1U);
  ASSERT_EQ(object.listen.size(), 2U);
  EXPECT_EQ(object.listen[0].text, "5173");
  EXPECT_EQ(object.listen[1].where.field, "network.listen[1]");
}

TEST(ListenPolicy, GrantsJustThosePorts) {
  const auto policy = compiled(inputs_of(R"({"listen":[5173,"8000-8010"]})"));
  for (const int port : {5173, 8000, 8010}) EXPECT_EQ(at(*policy, port), Verdict::kAllow);
  for (const int port : {0, 1, 5172, 5174, 7999, 8011, 65535})
    EXPECT_EQ(at(*policy, port), Verdict::kDeny) << port;
  // Neither grants the other.
  EXPECT_EQ(policy->decide_connect(IpAddress::v4({127, 0, 0, 1}), 5173, {}).verdict,
            Verdict::kDeny);
  EXPECT_EQ(at(*compiled(inputs_of(R"(["localhost:5173","*:*"])")), 5173), Verdict::kDeny);
}

TEST(ListenPolicy, IsAskedWhereNothingSays) {
  PolicyInputs in = inputs();
  in.manifest.otherwise = Otherwise::kAsk;
  EXPECT_EQ(at(*compiled(in), 5173), Verdict::kAsk);
  in.extras.push_back({.source = Rule::Source::kRemembered,
                       .verdict = Verdict::kDeny,
                       .kind = Kind::kListen,
                       .entry = {"5173", {}}});
  EXPECT_EQ(at(*compiled(in), 5173), Verdict::kDeny);
  EXPECT_EQ(at(*compiled(in), 5174), Verdict::kAsk);
}

TEST(ListenPolicy, ABlockWins) {
  BlockGroup group;
  group.name = "ports";
  group.listen = entries({"8000-8005"});
  for (const auto source : {Blocklist::Source::kOrganisation, Blocklist::Source::kUser}) {
    PolicyInputs in = inputs_of(R"({"listen":["8000-8010"]})");
    in.blocklists.push_back(blocklist(source, group));
    const auto policy = compiled(in);
    EXPECT_EQ(at(*policy, 8005), Verdict::kDeny);
    EXPECT_EQ(at(*policy, 8006), Verdict::kAllow);
  }
}

TEST(ListenPolicy, WhatIsNoPortIsRefused) {
  EXPECT_THAT(refused(inputs_of(R"({"listen":["80 80"]})")), HasSubstr("is no port"));
  EXPECT_THAT(refused(inputs_of(R"({"listen":[65536]})")), HasSubstr("is no port"));
}

TEST(ListenPolicy, ExplainsAndNamesTheFlag) {
  const auto policy = compiled(inputs_of(R"({"listen":[5173]})"));
  EXPECT_THAT(explain(*policy, Kind::kListen, "5173").because,
              HasSubstr("allowed by the manifest"));
  EXPECT_EQ(explain(*policy, Kind::kListen, "80").change,
            "run with --listen 80, or add 80 to \"network.listen\" in the manifest");
  EXPECT_EQ(granting_flag(*policy, Kind::kListen, "80"), "--listen 80");
  EXPECT_EQ(granting_flag(*policy, Kind::kListen, "x"), "");
  EXPECT_THAT(explain(*policy, Kind::kListen, "x").because, HasSubstr("no port"));
}

TEST(ListenPolicy, LintTellsWhatIsCovered) {
  PolicyInputs in = inputs_of(R"({"listen":["8000-8010",8005]})");
  const auto findings = lint(in, *compiled(in));
  EXPECT_THAT(findings,
              Contains(::testing::Field(&Diagnostic::message, HasSubstr("grants nothing more"))));
}

TEST(ListenPolicy, ReviewsTellIt) {
  const PolicyInputs before = inputs_of(R"({"listen":["8000-8010"]})");
  const auto old = compiled(before);
  const auto new_words = [&](const char* network) {
    const PolicyInputs in = inputs_of(network);
    return widened(*old, in, *compiled(in));
  };
  EXPECT_THAT(new_words(R"({"listen":[8003]})"), IsEmpty());
  EXPECT_THAT(new_words(R"({"listen":[8003,8011]})"),
              ElementsAre(HasSubstr("Be reached by your browser, and by other programs of this "
                                    "machine, at port 8011")));
}

TEST(ListenPolicy, MergedManifestsGrantWhatEitherDoes) {
  std::vector<MergeMember> members(2);
  members[0].manifest = manifest_of(R"({"listen":[1]})");
  members[0].id = "a.a";
  members[1].manifest = manifest_of(R"({"connect":["a:1"],"listen":[2]})");
  members[1].id = "b.b";
  const auto merged = merge(members);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->listen.size(), 2U);
}

}  // namespace
}  // namespace bulkhead
