#include "sandbox/caller/settled_opens.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bulkhead {
namespace {

// Opens of this very process: its memory is read like any other's.
class SettledOpensTest : public testing::Test {
 protected:
  Notification open_of(const char* path, int flags = O_RDONLY) const {
    Notification notification;
    notification.tid = ::getpid();
    notification.number = __NR_openat;
    notification.args = {static_cast<uint64_t>(AT_FDCWD), reinterpret_cast<uint64_t>(path),
                         static_cast<uint64_t>(flags)};
    return notification;
  }
  // Until this thread is one that opens much.
  void open_much() {
    for (int i = 0; i < 20; ++i) static_cast<void>(opens_.repeats(open_of("/x"), epoch_));
  }

  SettledOpens opens_;
  SettledOpens::Epoch epoch_ = {.changes = 3, .execs = 1, .second = 9};
  std::atomic<uint64_t> count_ = 1;
};

TEST_F(SettledOpensTest, TheSameOpenRepeatsAndIsCounted) {
  for (int i = 0; i < 15; ++i) EXPECT_FALSE(opens_.repeats(open_of("/a"), epoch_));
  opens_.keep(open_of("/a"), {"/a", {&count_, nullptr}}, epoch_);
  EXPECT_TRUE(opens_.repeats(open_of("/a"), epoch_));
  EXPECT_TRUE(opens_.repeats(open_of("/a"), epoch_));
  EXPECT_EQ(count_, 3U);
}

TEST_F(SettledOpensTest, NothingElseRepeats) {
  for (int i = 0; i < 15; ++i) static_cast<void>(opens_.repeats(open_of("/a"), epoch_));
  const auto kept = [&] {
    opens_.keep(open_of("/a"), {"/a", {&count_, nullptr}}, epoch_);
    return opens_.repeats(open_of("/a"), epoch_);
  };
  ASSERT_TRUE(kept());
  EXPECT_FALSE(opens_.repeats(open_of("/b"), epoch_));
  ASSERT_TRUE(kept());
  EXPECT_FALSE(opens_.repeats(open_of("/a/"), epoch_));
  ASSERT_TRUE(kept());
  EXPECT_FALSE(opens_.repeats(open_of("/a", O_WRONLY), epoch_));
  ASSERT_TRUE(kept());
  Notification other_call = open_of("/a");
  other_call.number = __NR_openat2;
  EXPECT_FALSE(opens_.repeats(other_call, epoch_));
  other_call = open_of("/a");
  other_call.tid = ::getppid();
  EXPECT_FALSE(opens_.repeats(other_call, epoch_));
}

TEST_F(SettledOpensTest, ForgetsWhatMayHaveChanged) {
  for (const SettledOpens::Epoch& later :
       {SettledOpens::Epoch{4, 1, 9}, SettledOpens::Epoch{3, 1, 10},
        SettledOpens::Epoch{3, 2, 9}}) {
    SettledOpens opens;
    for (int i = 0; i < 15; ++i) static_cast<void>(opens.repeats(open_of("/a"), epoch_));
    opens.keep(open_of("/a"), {"/a", {&count_, nullptr}}, epoch_);
    ASSERT_TRUE(opens.repeats(open_of("/a"), epoch_));
    for (int i = 0; i < 40; ++i) ASSERT_FALSE(opens.repeats(open_of("/a"), later));
  }
}

TEST_F(SettledOpensTest, WhatTheCallerWritesNowCounts) {
  char path[] = "/a";
  for (int i = 0; i < 15; ++i) static_cast<void>(opens_.repeats(open_of(path), epoch_));
  opens_.keep(open_of(path), {"/a", {&count_, nullptr}}, epoch_);
  ASSERT_TRUE(opens_.repeats(open_of(path), epoch_));
  path[1] = 'b';
  EXPECT_FALSE(opens_.repeats(open_of(path), epoch_));
}

TEST_F(SettledOpensTest, UnreadableMemoryRepeatsNothing) {
  open_much();
  Notification nowhere = open_of(nullptr);
  EXPECT_FALSE(opens_.repeats(nowhere, epoch_));
  nowhere.args[1] = ~uint64_t{0};
  EXPECT_FALSE(opens_.repeats(nowhere, epoch_));
}

// A process that opens each file once pays for no looking.
TEST_F(SettledOpensTest, AThreadWhoseOpensDoNotRepeatIsLeftAlone) {
  open_much();
  opens_.keep(open_of("/a"), {"/a", {&count_, nullptr}}, epoch_);
  EXPECT_FALSE(opens_.repeats(open_of("/a"), epoch_));
}

}  // namespace
}  // namespace bulkhead
