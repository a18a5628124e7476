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
  EXPECT_EQ(named(features, "landlock-scopes").present, abi >= 6);
}

// As Docker's default profile does it.
bool forbid_user_namespaces() {
  std::array<sock_filter, 6> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Probe, NamesTheOptionsOfAContainer) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!forbid_user_namespaces()) ::_exit(2);
    for (const char* name : {"user-namespaces", "private-proc", "mount-attributes"}) {
      const std::vector<Feature> features = probe_features();
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
  EXPECT_EQ(WEXITSTATUS(status), 0);
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
