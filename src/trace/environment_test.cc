#include "trace/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using testing::ElementsAre;

class GrantedEnvironmentTest : public testing::Test {
 protected:
  GrantedEnvironmentTest() {
    PolicyInputs inputs;
    inputs.manifest.environment.push_back({"PATH", {}});
    policy_ = *Policy::compile(inputs);
  }
  std::shared_ptr<const Policy> policy_;
  std::string path_ = "PATH=/bin", key_ = "API_KEY=sesame", bare_ = "BARE", ours_ = "OURS=1";
  std::vector<char*> variables_ = {path_.data(), key_.data(), bare_.data(), ours_.data(), nullptr};
};

TEST_F(GrantedEnvironmentTest, PassesWhatIsGrantedAndNamesTheRest) {
  const auto granted = grant_environment(*policy_, variables_.data(), false,
                                         [](std::string_view name) { return name == "OURS"; });
  EXPECT_THAT(granted.passed, ElementsAre("PATH=/bin"));
  ASSERT_EQ(granted.withheld.size(), 2U);
  EXPECT_EQ(granted.withheld[0].resource, "API_KEY");
  EXPECT_EQ(granted.withheld[1].resource, "BARE");
  for (const Event& event : granted.withheld) {
    EXPECT_EQ(event.kind, Kind::kEnvironment);
    EXPECT_EQ(event.verdict, Verdict::kDeny);
    EXPECT_TRUE(event.enforced);
    EXPECT_EQ(event.rule.find("sesame"), std::string::npos);
  }
}

TEST_F(GrantedEnvironmentTest, AnAuditPassesAllAndTells) {
  const auto granted = grant_environment(*policy_, variables_.data(), true);
  EXPECT_THAT(granted.passed, ElementsAre("PATH=/bin", "API_KEY=sesame", "BARE", "OURS=1"));
  ASSERT_EQ(granted.withheld.size(), 3U);
  EXPECT_FALSE(granted.withheld[0].enforced);
}

}  // namespace
}  // namespace bulkhead
