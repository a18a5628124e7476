#include <gtest/gtest.h>

#include "policy/shipped.h"

namespace bulkhead {
namespace {

Result<std::shared_ptr<const Policy>> compile(const std::string& text, ShippedRules rules = {},
                                              PolicyInputs inputs = {}) {
  return compile_manifest(ManifestBytes::of("mine.json", text), rules, std::move(inputs));
}

Verdict reads(const Policy& policy, std::string_view path) {
  return policy.decide_path(Kind::kRead, path).verdict;
}

TEST(CompileManifest, SetsAndEssentialsAreWithin) {
  const auto policy = compile(R"({"manifest": 1, "files": {"read": ["@system"]}})");
  ASSERT_TRUE(policy.ok()) << to_string(policy.error());
  EXPECT_EQ(reads(**policy, "/usr/lib/x86_64-linux-gnu/libc.so.6"), Verdict::kAllow);
  EXPECT_EQ(reads(**policy, "/dev/null"), Verdict::kAllow);
  EXPECT_EQ(reads(**policy, "/srv"), Verdict::kDeny);
  EXPECT_TRUE((*policy)->in_scratch("/tmp/a"));
}

TEST(CompileManifest, OrWhatTheManifestSaysAlone) {
  const auto policy = compile(R"({"manifest": 1})", {.essentials = false, .blocklist = false});
  ASSERT_TRUE(policy.ok()) << to_string(policy.error());
  EXPECT_EQ(reads(**policy, "/dev/null"), Verdict::kDeny);
}

TEST(CompileManifest, TheBlocklistHoldsUnlessItIsLeftOut) {
  const std::string text = R"({"manifest": 1, "files": {"read": ["/home/me"]}})";
  PolicyInputs inputs;
  inputs.variables.home = "/home/me";
  const auto blocked = compile(text, {}, inputs);
  const auto open = compile(text, {.blocklist = false}, inputs);
  ASSERT_TRUE(blocked.ok() && open.ok());
  EXPECT_EQ(reads(**blocked, "/home/me/.ssh/id_ed25519"), Verdict::kDeny);
  EXPECT_EQ(reads(**open, "/home/me/.ssh/id_ed25519"), Verdict::kAllow);
}

TEST(CompileManifest, AnUnknownSetIsToldWithThoseThatThereAre) {
  const auto policy = compile(R"({"manifest": 1, "files": {"read": ["@sistem"]}})");
  ASSERT_FALSE(policy.ok());
  const std::string text = to_string(policy.error());
  EXPECT_NE(text.find("mine.json:1"), std::string::npos) << text;
  EXPECT_NE(text.find("system"), std::string::npos) << text;
}

}  // namespace
}  // namespace bulkhead
