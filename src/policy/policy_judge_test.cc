#include "policy/policy_judge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace bulkhead {
namespace {

using Ruling = Judge::Ruling;

class Answering final : public PolicyJudge {
 public:
  Answering(std::shared_ptr<const Policy> policy, bool answers)
      : PolicyJudge(std::move(policy)), answers_(answers) {}
  std::vector<std::string> asked, no;

 private:
  bool answers() const noexcept override { return answers_; }
  bool answer(Kind, const std::string& resource, const Attempt&) override {
    asked.push_back(resource);
    return resource.ends_with("yes");
  }
  void refused(Kind kind, std::string_view resource, std::string_view reason,
               const Attempt&) override {
    no.push_back(std::string(label(kind)).append(" ").append(resource).append(": ").append(reason));
  }
  const bool answers_;
};

std::shared_ptr<const Policy> policy_of(Otherwise otherwise) {
  PolicyInputs inputs;
  inputs.manifest.otherwise = otherwise;
  inputs.manifest.files.read = {{"/granted", {}}};
  inputs.manifest.files.block = {{"/granted/secret", {}}};
  inputs.manifest.network = {{"example.com:443", {}}};
  return Policy::compile(inputs).value();
}

TEST(PolicyJudge, WhatWouldBeAskedIsRefused) {
  Answering judge(policy_of(Otherwise::kAsk), false);
  EXPECT_EQ(judge.path(Kind::kRead, "/granted/a", {}, true), Ruling::kAllow);
  EXPECT_EQ(judge.path(Kind::kRead, "/granted/secret", {}, true), Ruling::kDeny);
  EXPECT_EQ(judge.path(Kind::kRead, "/other", {}, false), Ruling::kDeny);
  EXPECT_EQ(judge.lookup("example.com", {}, false), Ruling::kAllow);
  EXPECT_EQ(judge.lookup("example.org", {}, false), Ruling::kDeny);
  EXPECT_TRUE(judge.asked.empty());
  EXPECT_EQ(judge.no, (std::vector<std::string>{"read /granted/secret: manifest: /granted/secret",
                                                "read /other: otherwise: ask",
                                                "lookup example.org: otherwise: ask"}));
}

TEST(PolicyJudge, WhoDerivesFromItAnswersWhatIsLeftOpenAndNothingElse) {
  Answering judge(policy_of(Otherwise::kAsk), true);
  EXPECT_EQ(judge.would_rule(Kind::kRead, "/a/yes"), Ruling::kWouldAsk);
  EXPECT_EQ(judge.path(Kind::kRead, "/a/yes", {}, false), Ruling::kWouldAsk);
  EXPECT_EQ(judge.path(Kind::kRead, "/a/yes", {}, true), Ruling::kAllow);
  EXPECT_EQ(judge.path(Kind::kRead, "/a/no", {}, true), Ruling::kDeny);
  EXPECT_EQ(judge.path(Kind::kRead, "/granted/secret", {}, true), Ruling::kDeny);
  const std::string_view names[] = {"example.org"};
  const IpAddress address = *IpAddress::parse("192.0.32.7");
  EXPECT_EQ(judge.connect(address, 80, names, {}, true), Ruling::kDeny);
  EXPECT_EQ(judge.asked, (std::vector<std::string>{"/a/yes", "/a/no", "example.org:80"}));
  judge.stop_asking();
  EXPECT_EQ(judge.path(Kind::kRead, "/a/yes", {}, true), Ruling::kDeny);
  EXPECT_EQ(judge.would_rule(Kind::kRead, "/a/yes"), Ruling::kDeny);
}

TEST(PolicyJudge, AnAnswerThatComesWithTheEndDoesNotCount) {
  struct Ending final : PolicyJudge {
    using PolicyJudge::PolicyJudge;
    bool answers() const noexcept override { return true; }
    bool answer(Kind, const std::string&, const Attempt&) override {
      stop_asking();  // as another thread would meanwhile
      return true;
    }
  } judge(policy_of(Otherwise::kAsk));
  EXPECT_EQ(judge.path(Kind::kWrite, "/other", {}, true), Ruling::kDeny);
}

TEST(PolicyJudge, AnAuditLetsPassAndTells) {
  struct Audit final : PolicyJudge {
    using PolicyJudge::PolicyJudge;
    int told = 0;
    void refused(Kind, std::string_view, std::string_view, const Attempt&) override { ++told; }
  } judge(policy_of(Otherwise::kDeny), Enforcement::kAuditOnly);
  EXPECT_EQ(judge.path(Kind::kRead, "/other", {}, false), Ruling::kAllow);
  EXPECT_EQ(judge.would_rule(Kind::kRead, "/other"), Ruling::kAllow);
  EXPECT_EQ(judge.told, 1);
}

TEST(PolicyJudge, AnAllowedAccessNeedsNoSecondRuling) {
  PolicyJudge judge(policy_of(Otherwise::kDeny));
  Recount recount;
  EXPECT_EQ(judge.path(Kind::kRead, "/granted/a", {}, false, &recount), Ruling::kAllow);
  EXPECT_TRUE(recount.known);
  Recount none;
  EXPECT_EQ(judge.path(Kind::kRead, "/other", {}, false, &none), Ruling::kDeny);
  EXPECT_FALSE(none.known);
}

}  // namespace
}  // namespace bulkhead
