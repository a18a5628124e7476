#include "sandbox/limits/address_spaces.h"

#include <gtest/gtest.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace bulkhead {
namespace {

class AddressSpacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::syscall(SYS_kcmp, ::getpid(), ::getpid(), KCMP_VM, 0, 0) < 0)
      GTEST_SKIP() << "needs kcmp";
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  // A child that waits.
  pid_t make(int flags) {
    alignas(16) static std::array<char, 65536> stack;
    const auto wait = [](void*) -> int {
      for (;;) ::syscall(SYS_pause);
    };
    const pid_t child = ::clone(wait, stack.data() + stack.size(), flags | SIGCHLD, nullptr);
    EXPECT_GT(child, 0);
    children_.push_back(child);
    return child;
  }
  std::vector<pid_t> children_;
};

TEST_F(AddressSpacesTest, ForksHaveTheirOwn) {
  AddressSpaces spaces;
  EXPECT_TRUE(spaces.is_new(::getpid()));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(spaces.is_new(make(0)));
}

TEST_F(AddressSpacesTest, ChildrenThatShareTheirParentsHaveNone) {
  AddressSpaces spaces;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(spaces.is_new(make(0)));
  const pid_t sharing = make(CLONE_VM);
  EXPECT_TRUE(spaces.is_new(sharing));
  EXPECT_FALSE(spaces.is_new(::getpid()));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(spaces.is_new(make(0)));
  EXPECT_FALSE(spaces.is_new(sharing));
}

TEST_F(AddressSpacesTest, WhoIsNotToldOfCounts) {
  AddressSpaces spaces;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(spaces.is_new(-1));
  const pid_t ended = make(0);
  ::kill(ended, SIGKILL);
  siginfo_t how{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(ended), &how, WEXITED | WNOWAIT), 0);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(spaces.is_new(ended));
}

}  // namespace
}  // namespace bulkhead
