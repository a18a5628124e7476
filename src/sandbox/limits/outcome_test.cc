#include "sandbox/limits/outcome.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

namespace bulkhead {
namespace {

TEST(Outcome, ExitCodesAreThoseThatScriptsKnow) {
  EXPECT_EQ(exit_code(Exited{0}), 0);
  EXPECT_EQ(exit_code(Exited{7}), 7);
  EXPECT_EQ(exit_code(Signaled{SIGKILL}), 137);
  EXPECT_EQ(exit_code(CannotRun{ENOENT, ""}), 127);
  EXPECT_EQ(exit_code(CannotRun{EACCES, ""}), 126);
  EXPECT_EQ(exit_code(LimitBreached{LimitBreached::Which::kMemory, ""}), 120);
  EXPECT_EQ(exit_code(LimitBreached{LimitBreached::Which::kCpuTime, ""}), 121);
  EXPECT_EQ(exit_code(LimitBreached{LimitBreached::Which::kWallTime, ""}), 124);
  EXPECT_EQ(exit_code(LimitBreached{LimitBreached::Which::kWritten, ""}), 119);
  EXPECT_EQ(exit_code(SupervisorFailed{""}), 125);
}

TEST(Outcome, DescriptionsNameTheCause) {
  EXPECT_EQ(describe(Exited{3}), "ended with exit code 3");
  EXPECT_EQ(describe(Signaled{SIGSEGV, true}), "ended by SIGSEGV (core dumped)");
  EXPECT_EQ(describe(CannotRun{EACCES, "/bin/x: not granted"}), "/bin/x: not granted");
  EXPECT_EQ(describe(CannotRun{ENOENT, ""}), "could not be run: No such file or directory");
  EXPECT_EQ(describe(LimitBreached{LimitBreached::Which::kMemory, "memory: 2 used, 1 allowed"}),
            "ended by a limit: memory: 2 used, 1 allowed");
}

}  // namespace
}  // namespace bulkhead
