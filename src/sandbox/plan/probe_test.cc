#include "sandbox/plan/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "sandbox/kernel/landlock.h"

namespace bulkhead {
namespace {

const Feature& named(const std::vector<Feature>& features, std::string_view name) {
  static const Feature kNone;
  const auto found = std::find_if(features.begin(), features.end(),
                                  [name](const Feature& each) { return each.name == name; });
  EXPECT_NE(found, features.end()) << name;
  return found == features.end() ? kNone : *found;
}

TEST(Probe, NamesAreUniqueAndEveryMissingFeatureSaysWhy) {
  std::set<std::string> names;
  for (const Feature& feature : probe_features()) {
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_FALSE(feature.what.empty()) << feature.name;
    if (!feature.present) {
      EXPECT_THAT(feature.detail, testing::HasSubstr(": ")) << feature.name;
    }
  }
  EXPECT_GE(names.size(), 15u);
}

TEST(Probe, SaysWhatTheKernelSays) {
  const auto features = probe_features();
  const long abi =
      ::syscall(__NR_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  EXPECT_EQ(named(features, "landlock").present, abi >= kOldestLandlock);
  if (abi >= kOldestLandlock) {
    EXPECT_EQ(named(features, "landlock").detail, "ABI " + std::to_string(abi));
  }
  EXPECT_EQ(named(features, "landlock-scopes").present, abi >= 6);
}

TEST(Probe, IsTheSameTwice) {
  const auto first = probe_features(), second = probe_features();
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_EQ(first[i].present, second[i].present) << first[i].name;
  }
}

}  // namespace
}  // namespace bulkhead
