#include "policy/merge.h"

#include <gmock/gmock.h>

#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;

MergeMember member(const std::string& id) {
  MergeMember result;
  result.id = id;
  result.manifest.digest = "digest of " + id;
  result.folder = "/no-such/ext/" + id;
  result.storage = {"/no-such/global/" + id, "/no-such/local/" + id};
  return result;
}

std::vector<std::string> texts(const std::vector<Entry>& list) {
  std::vector<std::string> result;
  result.reserve(list.size());
  for (const Entry& entry : list) result.push_back(entry.text);
  return result;
}

std::shared_ptr<const Policy> compiled(Manifest manifest) {
  PolicyInputs all = inputs();
  all.variables.extension.clear();
  all.variables.storage.clear();
  all.manifest = std::move(manifest);
  auto policy = Policy::compile(all);
  EXPECT_TRUE(policy.ok()) << to_string(policy.error());
  return policy.ok() ? *policy : nullptr;
}

TEST(MergeTest, EachVariableMeansTheFoldersOfWhoWroteIt) {
  MergeMember a = member("p.a"), b = member("p.b");
  a.manifest.files.read = entries({"${extension}", "${workspace}"});
  a.manifest.files.write = entries({"${storage}/x"});
  b.manifest.files.read = entries({"${extension}/lib", "${workspace}"});
  b.manifest.run = entries({"${extension}/bin", "git"});
  const auto merged = merge(std::vector{a, b});
  ASSERT_TRUE(merged.ok()) << to_string(merged.error());
  EXPECT_THAT(texts(merged->files.read),
              ElementsAre("/no-such/ext/p.a", "${workspace}", "/no-such/ext/p.b/lib"));
  EXPECT_THAT(texts(merged->files.write),
              ElementsAre("/no-such/global/p.a/x", "/no-such/local/p.a/x"));
  EXPECT_THAT(texts(merged->run), ElementsAre("/no-such/ext/p.b/bin", "git"));
  EXPECT_EQ(merged->files.read[2].where.line, 1);
  EXPECT_EQ(merged->files.read[2].where.file, "m.json");

  const auto policy = compiled(*merged);
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/no-such/ext/p.a/x").verdict, Verdict::kAllow);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/no-such/ext/p.b/x").verdict, Verdict::kDeny);
  EXPECT_EQ(policy->decide_path(Kind::kRun, "/no-such/ext/p.b/bin/x").verdict, Verdict::kAllow);
  EXPECT_EQ(policy->decide_path(Kind::kRun, "/no-such/ext/p.a/x").verdict, Verdict::kDeny);
}

TEST(MergeTest, AFolderIsTakenLiterally) {
  MergeMember a = member("p.a");
  a.folder = "/no-such/*/a${home}\\b";
  a.manifest.files.read = entries({"${extension}/*.js"});
  const auto merged = merge(std::vector{a});
  ASSERT_TRUE(merged.ok());
  const auto policy = compiled(*merged);
  ASSERT_NE(policy, nullptr);
  const auto verdict = [&](const char* path) {
    return policy->decide_path(Kind::kRead, path).verdict;
  };
  EXPECT_EQ(verdict("/no-such/*/a${home}\\b/x.js"), Verdict::kAllow);
  EXPECT_EQ(verdict("/no-such/any/a${home}\\b/x.js"), Verdict::kDeny);
  EXPECT_EQ(verdict("/no-such/*/a${home}\\b/x.ts"), Verdict::kDeny);
}

TEST(MergeTest, ABlockOfOneHoldsForAll) {
  MergeMember a = member("p.a"), b = member("p.b");
  a.manifest.files.read = entries({"${workspace}"});
  b.manifest.files.block = entries({"${workspace}/.env"});
  b.manifest.files.hide = entries({"${extension}/keys"});
  const auto merged = merge(std::vector{a, b});
  ASSERT_TRUE(merged.ok());
  const auto policy = compiled(*merged);
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/no-such/ws/.env").verdict, Verdict::kDeny);
  EXPECT_EQ(policy->decide_path(Kind::kRead, "/no-such/ws/x").verdict, Verdict::kAllow);
  EXPECT_THAT(policy->hidden(), ElementsAre("/no-such/ext/p.b/keys"));
}

TEST(MergeTest, OtherListsAddUp) {
  MergeMember a = member("p.a"), b = member("p.b");
  a.manifest.network = entries({"a.example:443"});
  b.manifest.network = entries({"b.example:443", "a.example:443"});
  a.manifest.environment = entries({"PATH"});
  b.manifest.vscode = entries({"terminal"});
  b.manifest.otherwise = Otherwise::kAsk;
  a.manifest.otherwise = Otherwise::kDeny;
  const auto merged = merge(std::vector{b, a});
  ASSERT_TRUE(merged.ok());
  EXPECT_THAT(texts(merged->network), ElementsAre("a.example:443", "b.example:443"));
  EXPECT_THAT(texts(merged->environment), ElementsAre("PATH"));
  EXPECT_THAT(texts(merged->vscode), ElementsAre("terminal"));
  EXPECT_EQ(merged->otherwise, Otherwise::kAsk);
}

TEST(MergeTest, OfLimitsTheLargerAndNoneIsTheLargest) {
  MergeMember a = member("p.a"), b = member("p.b");
  a.manifest.limits.memory = 1000;
  b.manifest.limits.memory = 2000;
  a.manifest.limits.processes = 9;
  b.manifest.limits.files = 9;
  const auto merged = merge(std::vector{a, b});
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->limits.memory, 2000U);
  EXPECT_FALSE(merged->limits.processes.has_value());
  EXPECT_FALSE(merged->limits.files.has_value());
}

TEST(MergeTest, TheGroupHasOneNameWhateverItsOrder) {
  const MergeMember a = member("P.A"), b = member("p.b");
  const auto one = merge(std::vector{a, b}), other = merge(std::vector{b, a});
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->extension, "p.a+p.b");
  EXPECT_EQ(other->extension, "p.a+p.b");
  EXPECT_EQ(one->digest, other->digest);
  MergeMember changed = b;
  changed.manifest.digest = "another";
  EXPECT_NE(merge(std::vector{a, changed})->digest, one->digest);
  const auto alone = merge(std::vector{a});
  EXPECT_EQ(alone->extension, "p.a");
  EXPECT_EQ(alone->digest, "digest of P.A");
}

TEST(MergeTest, WhatAVariableCannotMeanIsAnError) {
  MergeMember a = member("p.a");
  a.storage.clear();
  a.manifest.files.write = entries({"${storage}"});
  auto merged = merge(std::vector{a});
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(testing::told(merged.error()), HasSubstr("${storage} stands for nothing in p.a"));
  for (const char* folder : {"", "/", "relative", "/a/../b"}) {
    a = member("p.a");
    a.folder = folder;
    a.manifest.files.block = entries({"${extension}/x"});
    EXPECT_FALSE(merge(std::vector{a}).ok()) << folder;
  }
  EXPECT_FALSE(merge({}).ok());
}

}  // namespace
}  // namespace bulkhead
