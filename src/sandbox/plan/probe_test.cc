#include "sandbox/plan/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
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
  EXPECT_EQ(named(features, "landlock-truncate").present, abi >= 3);
  EXPECT_EQ(named(features, "landlock-scopes").present, abi >= 6);
}

// What is required and missing, of Landlock's.
std::vector<std::string> refused_by(const std::vector<Feature>& features) {
  std::vector<std::string> names;
  for (const Feature& feature : features)
    if (feature.required && !feature.present && feature.name.starts_with("landlock"))
      names.push_back(feature.name);
  return names;
}

TEST(Probe, OlderLandlocksAreEnoughDownToTheOneThatJudgesLinks) {
  if (landlock_support().abi < 6) GTEST_SKIP() << "needs landlock-scopes";
  const auto tried = [](int abi) { return probe_features(landlock_of_abi(abi)); };
  EXPECT_THAT(refused_by(tried(0)), testing::ElementsAre("landlock"));
  EXPECT_THAT(refused_by(tried(1)), testing::ElementsAre("landlock"));
  const auto oldest = tried(kOldestLandlock);
  EXPECT_THAT(refused_by(oldest), testing::IsEmpty());
  EXPECT_EQ(named(oldest, "landlock").detail, "ABI 2");
  EXPECT_THAT(named(oldest, "landlock-truncate").detail, testing::HasSubstr("Linux 6.2"));
  EXPECT_THAT(named(oldest, "landlock-scopes").detail, testing::HasSubstr("Linux 6.12"));
  const auto third = tried(3);
  EXPECT_TRUE(named(third, "landlock-truncate").present);
  EXPECT_FALSE(named(third, "landlock-scopes").present);
  EXPECT_TRUE(named(tried(6), "landlock-scopes").present);
}

// Two calls that fail, as where the kernel or a container lacks them.
bool forbid_calls(uint32_t one, uint32_t other) {
  std::array<sock_filter, 5> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Probe, DescriptorsOfThreadsTakeAPidfdOrAComparison) {
  const auto is_present_without = [](uint32_t one, uint32_t other) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!forbid_calls(one, other)) ::_exit(9);
      const auto features = probe_features();
      ::_exit(named(features, "thread-descriptors").present ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  constexpr uint32_t kNone = 100000;
  EXPECT_EQ(is_present_without(kNone, kNone), 1);
  EXPECT_EQ(is_present_without(__NR_pidfd_open, __NR_kcmp), 0);
  if (named(probe_features(), "thread-descriptors").detail.empty()) {
    EXPECT_EQ(is_present_without(__NR_kcmp, kNone), 1);
  }
}

bool forbid_clone_with(uint32_t flag) {
  std::array<sock_filter, 6> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// The first as Docker's default profile does it; the second as AppArmor on Ubuntu, which lets a
// user namespace be made in which nothing more can be.
TEST(Probe, NamesOneMendOfAllNamespaces) {
  for (const uint32_t flag : {uint32_t{CLONE_NEWUSER}, uint32_t{CLONE_NEWNS}}) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!forbid_clone_with(flag)) ::_exit(2);
      const std::vector<Feature> features = probe_features();
      for (const char* name : {"user-namespaces", "private-proc", "mount-attributes"}) {
        const Feature& feature = named(features, name);
        if (feature.present) ::_exit(3);
        for (const char* option : {"seccomp=unconfined", "systempaths=unconfined"})
          if (feature.detail.find(option) == std::string::npos) ::_exit(4);
      }
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << flag;
  }
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
