#include "session/delegated_scope.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

// A made-up tree of version 2, of plain files.
class DelegatedScope : public testing::Test {
 protected:
  void SetUp() override {
    root_ = (fs::temp_directory_path() / "scope-XXXXXX").string();
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    here_.root = root_;
    here_.mountinfo = "33 30 0:29 / /cg rw - cgroup2 cgroup2 rw\n";
    here_.start = [this](const std::string& name, auto) {
      asked_ = name;
      return Status();
    };
    here_.own_cgroup = [this]() -> Result<std::string> {
      return "0::" + (++looks_ < 3 ? "/session" : "/manager/" + asked_) + "\n";
    };
  }
  void TearDown() override { fs::remove_all(root_); }
  // What the kernel makes of a cgroup.
  void make(const std::string& cgroup) {
    fs::create_directories(root_ + "/cg" + cgroup);
    std::ofstream(root_ + "/cg" + cgroup + "/cgroup.procs") << "";
  }

  ScopeSurroundings here_;
  std::string root_, asked_;
  int looks_ = 0;
};

TEST_F(DelegatedScope, StepsAsideOnceItHasBeenMoved) {
  here_.start = [this](const std::string& name, auto) {
    asked_ = name;
    make("/manager/" + name + "/supervisor");
    return Status();
  };
  const Status entered = enter_delegated_scope(10s, here_);
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_THAT(asked_, testing::StartsWith("bulkhead-"));
  EXPECT_THAT(asked_, testing::EndsWith(".scope"));
  std::stringstream procs;
  procs << std::ifstream(root_ + "/cg/manager/" + asked_ + "/supervisor/cgroup.procs").rdbuf();
  EXPECT_EQ(procs.str(), "0");
}

TEST_F(DelegatedScope, AManagerThatRefusesIsNotWaitedFor) {
  here_.start = [](const std::string&, auto) { return Status(Error{"no scopes here", EACCES}); };
  const Status entered = enter_delegated_scope(10s, here_);
  ASSERT_FALSE(entered.ok());
  EXPECT_EQ(entered.error().message, "no scopes here");
  EXPECT_EQ(looks_, 0);
}

TEST_F(DelegatedScope, AManagerThatNeverMovesIsWaitedForNoLongerThanThat) {
  here_.own_cgroup = []() -> Result<std::string> { return std::string("0::/session\n"); };
  const auto begin = std::chrono::steady_clock::now();
  const Status entered = enter_delegated_scope(50ms, here_);
  ASSERT_FALSE(entered.ok());
  EXPECT_EQ(entered.error().errno_value, ETIMEDOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
}

TEST_F(DelegatedScope, AScopeThatCannotBeArrangedIsAnError) {
  const Status entered = enter_delegated_scope(10s, here_);  // the folder is not there
  ASSERT_FALSE(entered.ok());
  EXPECT_THAT(entered.error().message, HasSubstr("make the cgroup"));
  here_.mountinfo = "33 30 0:29 /elsewhere /cg rw - cgroup2 cgroup2 rw\n";
  const Status outside = enter_delegated_scope(10s, here_);
  ASSERT_FALSE(outside.ok());
  EXPECT_THAT(outside.error().message, HasSubstr("outside"));
}

TEST(OutlivesLogin, WhoIgnoresHangUpsStaysWhereItIs) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const Status entered = enter_delegated_scope(0ms);
  std::signal(SIGHUP, before);
  ASSERT_FALSE(entered.ok());
  EXPECT_THAT(entered.error().message, HasSubstr("SIGHUP"));
}

TEST(IsUnified, OnlyWhereVersionTwoHasTheController) {
  constexpr std::string_view kTwo = "33 30 0:29 / /cg rw - cgroup2 cgroup2 rw\n";
  constexpr std::string_view kOne = "31 30 0:27 / /memory rw - cgroup cgroup rw,memory\n";
  EXPECT_TRUE(is_unified("memory", kTwo));
  EXPECT_FALSE(is_unified("memory", std::string(kTwo).append(kOne)));
  EXPECT_TRUE(is_unified("cpu", std::string(kTwo).append(kOne)));
  EXPECT_FALSE(is_unified("cpu", kOne));
  EXPECT_FALSE(is_unified("memory", ""));
}

}  // namespace
}  // namespace bulkhead
