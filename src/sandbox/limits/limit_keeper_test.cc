// The keeper of limits by itself; limits_test has what becomes of real programs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/limits/limits.h"

namespace bulkhead {
namespace {

TEST(LimitKeeper, WithoutLimitsItWatchesNothing) {
  auto keeper = LimitKeeper::prepare({});
  ASSERT_TRUE(keeper.ok());
  EXPECT_EQ((*keeper)->fd(), -1);
  EXPECT_FALSE((*keeper)->poll().has_value());
}

// As where a program had taken all descriptors of the supervisor's.
TEST(LimitKeeper, WhatCannotBeWatchedIsBreached) {
  Limits limits;
  limits.memory = uint64_t{1} << 40U;
  auto keeper = LimitKeeper::prepare(limits, {.use_cgroups = false});
  ASSERT_TRUE(keeper.ok());
  const Fd proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  LimitTarget target;
  target.init = target.program = ::getpid();
  target.proc = proc.get();
  ASSERT_TRUE((*keeper)->attach(target).ok());
  (*keeper)->begin();
  EXPECT_FALSE((*keeper)->poll().has_value());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto breach = (*keeper)->poll();
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(breach.has_value());
  EXPECT_EQ(breach->which, LimitBreached::Which::kMemory);
}

TEST(LimitKeeper, MoreCoresThanThereAreIsNoLimit) {
  Limits limits;
  limits.cpu = 1000.5;
  auto keeper = LimitKeeper::prepare(limits, {.use_cgroups = false});
  EXPECT_TRUE(keeper.ok());
}

}  // namespace
}  // namespace bulkhead
