#include "sandbox/kernel/pending_signal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

namespace bulkhead {
namespace {

constexpr auto kNone = "0000000000000000";
constexpr auto kInterrupt = "0000000000000002";

std::string status(const char* threads, const char* thread, const char* shared,
                   const char* blocked) {
  return std::string("Name:\tx\nThreads:\t") + threads + "\nSigQ:\t0/127\nSigPnd:\t" + thread +
         "\nShdPnd:\t" + shared + "\nSigBlk:\t" + blocked + "\nSigIgn:\t0000000000000000\n";
}

TEST(PendingSignal, OfAThreadAndOfAProcess) {
  EXPECT_EQ(pending_signal_in(status("1", kNone, kNone, kNone)), PendingSignal::kNone);
  EXPECT_EQ(pending_signal_in(status("2", kInterrupt, kNone, kNone)), PendingSignal::kOwn);
  EXPECT_EQ(pending_signal_in(status("1", kNone, kInterrupt, kNone)), PendingSignal::kOwn);
  EXPECT_EQ(pending_signal_in(status("2", kNone, kInterrupt, kNone)), PendingSignal::kShared);
  EXPECT_EQ(pending_signal_in(""), PendingSignal::kNone);
}

TEST(PendingSignal, BlockedOnesAreNotHandled) {
  EXPECT_EQ(pending_signal_in(status("1", kInterrupt, kNone, kInterrupt)), PendingSignal::kNone);
  EXPECT_EQ(pending_signal_in(status("1", kNone, kInterrupt, kInterrupt)), PendingSignal::kNone);
}

TEST(PendingSignal, OfALivingThread) {
  EXPECT_EQ(pending_signal(::gettid()), PendingSignal::kNone);
  EXPECT_EQ(pending_signal(0), PendingSignal::kNone);
}

}  // namespace
}  // namespace bulkhead
