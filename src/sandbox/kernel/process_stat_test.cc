#include "sandbox/kernel/process_stat.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bulkhead {
namespace {

TEST(ParseStat, NamesMayHoldAnything) {
  const auto stat =
      parse_stat("7 (a) R 9 (b c) S 1 2 3 0 -1 4194560 10 20 0 0 11 12 13 14 20 0 1 0 5555 1 2\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->group, 2);
  EXPECT_EQ(stat->session, 3);
  EXPECT_EQ(stat->foreground, -1);
  EXPECT_EQ(stat->own_ticks, 23U);
  EXPECT_EQ(stat->children_ticks, 27U);
  EXPECT_EQ(stat->start_ticks, 5555U);
}

TEST(ParseStat, ShortTextIsRefused) {
  for (const char* text :
       {"", "7", "7 (x", "7 (x)", "7 (x) ", "7 (x) S 1 7 7 0 -1 4194560 10 20 0 0 11 12 13 14",
        "7 (x) S 1 7 7 0 -1 4194560 10 20 0 0 a b c d 20 0 1 0 5555 1",
        "7 (x) S 1 7 7x 0 -1 4194560 10 20 0 0 1 2 3 4 20 0 1 0 5555 1"})
    EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(StatOf, TellsOfThisProcess) {
  const auto stat = stat_of("/proc/self");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_EQ(stat->group, getpgrp());
  EXPECT_EQ(stat->session, getsid(0));
  EXPECT_FALSE(stat_of("/proc/0"));
}

TEST(IsOrphaned, WhereNobodyOfTheSessionIsAbove) {
  const pid_t leader = fork();
  if (leader == 0) {
    setsid();
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      _exit(is_orphaned(getpgrp()) ? 1 : 0);
    }
    int status = 0;
    waitpid(job, &status, 0);
    _exit(is_orphaned(getpgrp()) && status == 0 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(leader, &status, 0), leader);
  EXPECT_EQ(status, 0);
}

TEST(HasSignal, OfTheSetsThatAreNamed) {
  const auto old = signal(SIGTTOU, SIG_IGN);
  EXPECT_TRUE(has_signal("/proc/self", {"SigBlk", "SigIgn"}, SIGTTOU));
  EXPECT_FALSE(has_signal("/proc/self", {"SigPnd", "ShdPnd"}, SIGTTOU));
  signal(SIGTTOU, SIG_DFL);
  EXPECT_FALSE(has_signal("/proc/self", {"SigBlk", "SigIgn"}, SIGTTOU));
  signal(SIGTTOU, old);
}

}  // namespace
}  // namespace bulkhead
