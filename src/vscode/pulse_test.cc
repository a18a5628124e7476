#include "vscode/pulse.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

// So many beats for the same message; whether one of them changed anything.
bool wait(Pulse& pulse, uint32_t oldest, int beats, bool excused = false) {
  bool changed = false;
  for (int i = 0; i < beats; ++i) changed |= pulse.beat(oldest, excused);
  return changed;
}

TEST(Pulse, AMessageThatIsNotAcknowledgedIsToldOnce) {
  Pulse pulse;
  // The first beat that meets it may follow at once.
  EXPECT_FALSE(wait(pulse, 1, Pulse::kPatience));
  EXPECT_TRUE(pulse.responds());
  EXPECT_TRUE(pulse.beat(1, false));
  EXPECT_FALSE(pulse.responds());
  EXPECT_FALSE(wait(pulse, 1, 100));
  EXPECT_TRUE(pulse.beat(0, false));
  EXPECT_TRUE(pulse.responds());
}

TEST(Pulse, AHostThatIsSlowButAcknowledgesResponds) {
  Pulse pulse;
  for (uint32_t oldest = 1; oldest < 20; ++oldest)
    EXPECT_FALSE(wait(pulse, oldest, Pulse::kPatience)) << oldest;
  EXPECT_FALSE(wait(pulse, 0, 100)) << "nothing was sent";
}

TEST(Pulse, TheNextMessageThatWaitsMeansThatTheFirstWasHeard) {
  Pulse pulse;
  EXPECT_TRUE(wait(pulse, 1, Pulse::kPatience + 1));
  EXPECT_TRUE(pulse.beat(2, false));
  EXPECT_TRUE(pulse.responds());
  EXPECT_TRUE(wait(pulse, 2, Pulse::kPatience));
  EXPECT_FALSE(pulse.responds()) << "a second spell";
}

TEST(Pulse, WhoWaitsForAPersonIsNotBlamed) {
  Pulse pulse;
  EXPECT_FALSE(wait(pulse, 1, Pulse::kPatience));
  EXPECT_FALSE(wait(pulse, 1, 100, true));
  EXPECT_FALSE(wait(pulse, 1, Pulse::kPatience - 1)) << "it has its time after the answer";
  EXPECT_TRUE(pulse.beat(1, false));
  // Another of its programs asks: that does not mean that the host answers.
  EXPECT_FALSE(wait(pulse, 1, 5, true));
  EXPECT_FALSE(pulse.responds());
  EXPECT_TRUE(pulse.beat(0, true));
}

}  // namespace
}  // namespace bulkhead
