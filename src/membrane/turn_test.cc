#include "membrane/turn.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <thread>
#include <vector>

namespace bulkhead {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
// Where a loaded machine is not to end anything by the clock.
constexpr uint64_t kHour = 3'600'000 * kMillisecond;

// A worker that does one thing, in a process that is its own keeper.
class Worker {
 public:
  template <class Body>
  explicit Worker(Body body) : memory_(SharedChannel::make_memory(kLeastSlot)), turn_(channel_) {
    EXPECT_TRUE(channel_.attach(memory_, ChannelSide::kHost));
    child_ = ::fork();
    if (child_ == 0) {
      SharedChannel mine;
      if (mine.attach(memory_, ChannelSide::kWorker)) body(mine);
      ::_exit(0);
    }
    EXPECT_TRUE(turn_.watch(child_, child_));
  }
  ~Worker() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(memory_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Turn& turn() { return turn_; }
  SharedChannel& channel() { return channel_; }
  pid_t pid() const { return child_; }

 private:
  int memory_;
  SharedChannel channel_;
  Turn turn_;
  pid_t child_ = -1;
};

volatile uint64_t spent = 0;
[[noreturn]] void loop() {
  for (;;) spent = spent + 1;
}

uint64_t milliseconds_since(uint64_t begin) { return (monotonic_ns() - begin) / kMillisecond; }

TEST(Turn, AMessageEndsTheWait) {
  Worker worker([](SharedChannel& channel) { channel.send(0); });
  worker.turn().begin(1, {.processor_ns = 1000 * kMillisecond});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kMessage);
}

TEST(Turn, AWorkerThatLoopsIsAskedThenKilled) {
  Worker worker([](SharedChannel&) { loop(); });
  const uint64_t begin = monotonic_ns();
  worker.turn().begin(7, {.processor_ns = 50 * kMillisecond});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kTimeOver);
  EXPECT_EQ(worker.channel().control().terminate.load(), 7U);
  EXPECT_GE(milliseconds_since(begin), 70U);
  int status = 0;
  ASSERT_EQ(::waitpid(worker.pid(), &status, 0), worker.pid());
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(Turn, AWorkerThatEndsWhenAskedLives) {
  Worker worker([](SharedChannel& channel) {
    while (channel.control().terminate.load() != 3) spent = spent + 1;
    channel.send(0);
    ::pause();
  });
  worker.turn().begin(3, {.processor_ns = 30 * kMillisecond});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kMessage);
  EXPECT_EQ(::kill(worker.pid(), 0), 0);
}

// A loaded machine must not end a worker that does not get to run, and one that pretends must not
// keep its host waiting.
TEST(Turn, AWorkerThatSleepsIsEndedByTheClock) {
  Worker worker([](SharedChannel&) {
    for (;;) ::pause();
  });
  const uint64_t begin = monotonic_ns();
  worker.turn().begin(1, {.processor_ns = 20 * kMillisecond, .wall_ns = 100 * kMillisecond});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kTimeOver);
  EXPECT_GE(milliseconds_since(begin), 100U);
  EXPECT_LT(milliseconds_since(begin), 5000U);
}

// It is seen asleep, so that nobody waits for it as for one that does not get to run. The best of
// some turns: a loaded machine may let neither run for long.
TEST(Turn, AWorkerThatSleepsWhenAskedHoldsNobody) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 40 && least > 400; ++i) {
    // Its name is one that a careless reader takes for the state of a thread that runs.
    Worker worker([](SharedChannel&) {
      ::prctl(PR_SET_NAME, "a) R (b");
      for (;;) ::pause();
    });
    const uint64_t begin = monotonic_ns();
    worker.turn().begin(1, {.wall_ns = 100 * kMillisecond});
    EXPECT_EQ(worker.turn().wait(), Turn::End::kTimeOver);
    least = std::min(least, milliseconds_since(begin));
  }
  EXPECT_GE(least, 100U);
  EXPECT_LE(least, 400U);
}

// One that naps between looks, and uses next to no time.
TEST(Turn, AWorkerThatNapsWhenAskedHoldsNobodyEither) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 40 && least > 400; ++i) {
    Worker worker([](SharedChannel&) {
      for (;;) ::usleep(500);
    });
    const uint64_t begin = monotonic_ns();
    worker.turn().begin(1, {.wall_ns = 100 * kMillisecond});
    EXPECT_EQ(worker.turn().wait(), Turn::End::kTimeOver);
    least = std::min(least, milliseconds_since(begin));
  }
  EXPECT_LE(least, 400U);
}

// One that would run and is not let, because another has its processor, is no sleeper; who waits
// is, whatever its name looks like.
TEST(Turn, WhoDoesNotGetToRunIsNotTakenForASleeper) {
  Worker sleeper([](SharedChannel&) {
    ::prctl(PR_SET_NAME, "a) R (b");
    for (;;) ::pause();
  });
  const uint64_t begin = monotonic_ns();
  while (is_runnable(sleeper.pid()) && milliseconds_since(begin) < 30'000) ::usleep(1000);
  EXPECT_FALSE(is_runnable(sleeper.pid()));

  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  int processor = 0;
  while (!CPU_ISSET(processor, &all)) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  const auto loop_there = [&](int policy) {
    return [&one, policy](SharedChannel& channel) {
      ::sched_setaffinity(0, sizeof one, &one);
      const sched_param none{};
      ::sched_setscheduler(0, policy, &none);
      channel.send(0);
      loop();
    };
  };
  Worker starved(loop_there(SCHED_IDLE));
  starved.turn().begin(1, {.wall_ns = kHour});
  ASSERT_EQ(starved.turn().wait(), Turn::End::kMessage);
  Worker hog(loop_there(SCHED_OTHER));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(is_runnable(starved.pid()));
}

// Whatever it calls back for, for twenty seconds at the most.
Turn::End answer_until_end(Worker& worker, size_t* answers = nullptr) {
  Turn::End end = Turn::End::kMessage;
  const uint64_t begin = monotonic_ns();
  while (end == Turn::End::kMessage && milliseconds_since(begin) < 20'000) {
    end = worker.turn().wait();
    if (end != Turn::End::kMessage) break;
    worker.channel().receive();
    worker.channel().send(0);
    if (answers != nullptr) ++*answers;
  }
  return end;
}

// Its time counts although no wait is ever long.
TEST(Turn, AWorkerThatCallsBackWithoutEnd) {
  Worker worker([](SharedChannel& channel) {
    for (;;) {
      channel.send(0);
      while (!channel.has_message()) spent = spent + 1;
      channel.receive();
    }
  });
  worker.turn().begin(1, {.processor_ns = 50 * kMillisecond});
  EXPECT_EQ(answer_until_end(worker), Turn::End::kTimeOver);
}

// Ends what it is asked to end, as often as it is asked.
void end_when_asked(SharedChannel& channel) {
  uint32_t seen = 0;
  for (;;) {
    spent = spent + 1;
    const uint32_t asked = channel.control().terminate.load();
    if (asked == seen) continue;
    seen = asked;
    channel.send(0);
  }
}

TEST(Turn, ACallInItsMiddleEndsAlone) {
  Worker worker(end_when_asked);
  Turn& turn = worker.turn();
  turn.begin(1, {.processor_ns = 300 * kMillisecond, .wall_ns = kHour});
  turn.begin_inner(2, {.processor_ns = 30 * kMillisecond, .wall_ns = kHour});
  EXPECT_EQ(turn.wait(), Turn::End::kMessage);
  EXPECT_EQ(worker.channel().control().terminate.load(), 2U);
  worker.channel().receive();
  turn.end_inner();
  // What it used counts for the turn, whose own limit is reached in turn.
  const uint64_t used = turn.used();
  EXPECT_GE(used, 30 * kMillisecond);
  EXPECT_LE(turn.left().processor_ns, 300 * kMillisecond - used);
  EXPECT_EQ(turn.wait(), Turn::End::kMessage);
  EXPECT_EQ(worker.channel().control().terminate.load(), 1U);
  EXPECT_GE(turn.used(), 300 * kMillisecond);
}

TEST(Turn, ACallInItsMiddleHasNoMoreThanTheTurn) {
  Worker worker(end_when_asked);
  Turn& turn = worker.turn();
  turn.begin(1, {.processor_ns = 40 * kMillisecond, .wall_ns = kHour});
  turn.begin_inner(2, {.processor_ns = 60'000 * kMillisecond, .wall_ns = kHour});
  turn.begin_inner(3, {.processor_ns = 60'000 * kMillisecond, .wall_ns = kHour});
  EXPECT_LE(turn.left().processor_ns, 40 * kMillisecond);
  EXPECT_EQ(turn.wait(), Turn::End::kMessage);
  EXPECT_EQ(worker.channel().control().terminate.load(), 1U);
  turn.end_inner();
  turn.end_inner();
  turn.end_inner();  // the turn itself stays
  EXPECT_EQ(turn.left().processor_ns, 0U);
}

// The inner one is asked, and then the turn: the worker is told of both.
TEST(Turn, WhatEndsTheTurnIsAskedForBesides) {
  Worker worker([](SharedChannel& channel) {
    while (channel.control().terminate.load() != 1) spent = spent + 1;
    channel.send(0);
    ::pause();
  });
  Turn& turn = worker.turn();
  turn.begin(1, {.processor_ns = 35 * kMillisecond, .wall_ns = kHour});
  turn.begin_inner(2, {.processor_ns = 25 * kMillisecond, .wall_ns = kHour});
  EXPECT_EQ(turn.wait(), Turn::End::kMessage);
}

TEST(Turn, AnInnerCallThatDoesNotEndIsTheWorkersEnd) {
  Worker worker([](SharedChannel&) { loop(); });
  worker.turn().begin(1, {.processor_ns = 60'000 * kMillisecond, .wall_ns = kHour});
  worker.turn().begin_inner(2, {.processor_ns = 30 * kMillisecond, .wall_ns = kHour});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kTimeOver);
}

TEST(Turn, WhatOthersUseForItCounts) {
  Worker worker(end_when_asked);
  Turn& turn = worker.turn();
  turn.begin(1, {.processor_ns = 60'000 * kMillisecond, .wall_ns = kHour});
  ::usleep(20'000);
  turn.add(15 * kMillisecond);
  EXPECT_GE(turn.used(), 15 * kMillisecond);
  // Never more than has passed.
  turn.add(60'000 * kMillisecond);
  EXPECT_LT(turn.used(), 20'000 * kMillisecond);
}

TEST(Turn, ADeathIsNoticed) {
  Worker worker([](SharedChannel&) { ::_exit(1); });
  worker.turn().begin(1, {});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kGone);
}

TEST(Turn, MemoryIsLookedAfter) {
  Worker worker([](SharedChannel&) {
    std::vector<char> much(64 << 20);
    volatile char* const bytes = much.data();
    for (size_t i = 0;; i = (i + 4096) % much.size()) bytes[i] = 'y';
  });
  worker.turn().begin(1, {.processor_ns = 60'000 * kMillisecond, .resident_bytes = 48 << 20});
  EXPECT_EQ(worker.turn().wait(), Turn::End::kMemoryOver);
}

// Nor does it grow unseen between its calls.
TEST(Turn, MemoryOfAWorkerThatCallsBackIsLookedAfter) {
  Worker worker([](SharedChannel& channel) {
    constexpr size_t kMuch = 256 << 20;
    const std::unique_ptr<volatile char[]> bytes(new char[kMuch]);
    for (size_t i = 0;; i = (i + 4096) % kMuch) {
      bytes[i] = 'y';
      channel.send(0);
      while (!channel.has_message()) spent = spent + 1;
      channel.receive();
    }
  });
  worker.turn().begin(
      1, {.processor_ns = 60'000 * kMillisecond, .wall_ns = kHour, .resident_bytes = 48 << 20});
  size_t answers = 0;
  EXPECT_EQ(answer_until_end(worker, &answers), Turn::End::kMemoryOver);
  // A page each: 12,288 fill what it may have, and no more fit between two looks than 5 ms hold.
  EXPECT_LT(answers, 60'000U);
}

TEST(Turn, AnotherThreadTakesTheWaitBack) {
  Worker worker([](SharedChannel&) {
    for (;;) ::pause();
  });
  worker.turn().begin(1, {});
  Turn::End end = Turn::End::kMessage;
  std::thread waiting([&] { end = worker.turn().wait(); });
  ::usleep(20'000);
  worker.turn().abandon();
  waiting.join();
  EXPECT_EQ(end, Turn::End::kAbandoned);
  worker.turn().resume();
}

}  // namespace
}  // namespace bulkhead
