#include "sandbox/threads/loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "sandbox/testing/without_new_threads.h"

namespace bulkhead {
namespace {

using namespace std::chrono_literals;
using Clock = Task::Clock;

// A task whose turns a test writes. Removed with the object.
class Turns final : public Task {
 public:
  using Turn = std::function<Clock::time_point(bool briefly)>;
  Turns(Loop& loop, Turn turn) : loop_(loop), turn_(std::move(turn)), key(loop.add(*this)) {}
  ~Turns() override { loop_.remove(key); }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

 private:
  Clock::time_point turn(bool briefly) override { return turn_(briefly); }
  Loop& loop_;
  const Turn turn_;

 public:
  const Loop::Key key;
};

Fd event() { return Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
void tell(const Fd& fd) {
  const uint64_t one = 1;
  EXPECT_EQ(::write(fd.get(), &one, sizeof one), 8);
}
void drain(const Fd& fd) {
  uint64_t count = 0;
  (void)!::read(fd.get(), &count, sizeof count);
}

class LoopTest : public ::testing::Test {
 protected:
  const std::unique_ptr<Loop> loop_ = std::move(Loop::make()).value();
};

TEST_F(LoopTest, ATaskHasATurnForEachEvent) {
  const Fd fd = event();
  std::atomic<int> turns = 0;
  const Turns task(*loop_, [&](bool) {
    drain(fd);
    ++turns;
    return Task::kNever;
  });
  ASSERT_TRUE(loop_->watch(task.key, fd.get(), EPOLLIN).ok());
  for (int i = 1; i <= 20; ++i) {
    tell(fd);
    while (turns < i) std::this_thread::yield();
  }
  ::usleep(20'000);
  EXPECT_EQ(turns, 20);
}

TEST_F(LoopTest, OnceIsOnce) {
  const Fd fd = event();
  std::atomic<int> turns = 0;
  const Turns task(*loop_, [&](bool) {
    ++turns;  // and leaves it readable
    return Task::kNever;
  });
  ASSERT_TRUE(loop_->watch(task.key, fd.get(), EPOLLIN | EPOLLONESHOT).ok());
  tell(fd);
  while (turns < 1) std::this_thread::yield();
  tell(fd);
  ::usleep(20'000);
  EXPECT_EQ(turns, 1);
  // Anew: what is there already counts.
  ASSERT_TRUE(loop_->rearm(task.key, fd.get(), EPOLLIN).ok());
  while (turns < 2) std::this_thread::yield();
  // For which no watch is taken: there is one.
  loop_->forget(fd.get());
  EXPECT_FALSE(loop_->rearm(task.key, fd.get(), EPOLLIN).ok());
}

TEST_F(LoopTest, TurnsOfATaskAreOneAtATimeAndNoneIsLost) {
  std::atomic<int> inside = 0, most = 0, seen = 0, wanted = 0;
  const Turns task(*loop_, [&](bool) {
    const int now = ++inside;
    if (now > most) most = now;
    seen = wanted.load();
    std::this_thread::yield();
    --inside;
    return Task::kNever;
  });
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 2000; ++j) {
        ++wanted;
        loop_->call(task.key);
      }
    });
  for (std::thread& caller : callers) caller.join();
  while (seen != 8000) std::this_thread::yield();
  EXPECT_EQ(most, 1);
}

TEST_F(LoopTest, ATurnIsDueWhenItSaid) {
  std::vector<Clock::time_point> turns;
  std::atomic<bool> done = false;
  const Turns task(*loop_, [&](bool) {
    turns.push_back(Clock::now());
    done = turns.size() == 3;
    return done ? Task::kNever : Clock::now() + 30ms;
  });
  const auto begin = Clock::now();
  loop_->call_by(task.key, begin + 1h);
  loop_->call_by(task.key, begin + 20ms);
  loop_->call_by(task.key, begin + 2h);
  while (!done) ::usleep(1000);
  EXPECT_GE(turns[0] - begin, 20ms);
  EXPECT_GE(turns[2] - turns[0], 60ms);
  ::usleep(50'000);
  EXPECT_EQ(turns.size(), 3U);
}

// As a compartment that is held up by a judge or a disk.
TEST_F(LoopTest, OneThatTakesItsTimeHoldsUpNobody) {
  std::atomic<bool> let_go = false, held = false;
  const Turns slow(*loop_, [&](bool) {
    held = true;
    while (!let_go) ::usleep(1000);
    return Task::kNever;
  });
  loop_->call(slow.key);
  while (!held) ::usleep(1000);
  std::atomic<int> turns = 0;
  const Turns other(*loop_, [&](bool) {
    ++turns;
    return turns < 10 ? Clock::now() : Task::kNever;
  });
  loop_->call(other.key);
  while (turns < 10) ::usleep(1000);
  let_go = true;
}

TEST_F(LoopTest, RemovingWaitsForTheTurnAndNoneFollows) {
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> turns = 0;
    auto task = std::make_unique<Turns>(*loop_, [&](bool) {
      ::usleep(static_cast<useconds_t>(i));
      ++turns;
      return Clock::now();  // and again
    });
    loop_->call(task->key);
    if (i % 2 == 0) ::usleep(100);
    const Loop::Key key = task->key;
    task.reset();
    const int then = turns;
    loop_->call(key);
    loop_->call_by(key, Clock::now());
    ::usleep(200);
    EXPECT_EQ(turns, then);
  }
}

// Whoever takes all of the user's processes must not keep others from being served.
TEST_F(LoopTest, WhereNoThreadCanBeHadTheLoopHelps) {
  // The one that is there from the start is taken.
  std::promise<void> let_go;
  const std::shared_future<void> gone = let_go.get_future().share();
  while (!loop_->workers().run([gone] { gone.wait(); })) ::usleep(100);
  const testing::WithoutNewThreads none;
  const Fd fd = event();
  std::atomic<int> turns = 0, brief = 0;
  const auto count = [&](bool briefly) {
    drain(fd);
    brief += briefly ? 1 : 0;
    ++turns;
    return turns % 3 == 0 ? Task::kNever : Clock::now();
  };
  const Turns one(*loop_, count);
  ASSERT_TRUE(loop_->watch(one.key, fd.get(), EPOLLIN).ok());
  for (int i = 1; i <= 20; ++i) {
    tell(fd);
    while (turns < 3 * i) ::usleep(100);
  }
  EXPECT_EQ(brief, turns);
  EXPECT_FALSE(Loop::make().ok());
  let_go.set_value();
}

// As the end of a compartment, which the loop's own thread has no time for.
TEST_F(LoopTest, WhoWantsAWorkerGetsOneThatOthersDoNot) {
  std::promise<void> ended;
  std::atomic<int> waiting = 0;
  Workers::Owner flood(loop_->workers(), [&, end = ended.get_future().share()] {
    ++waiting;
    end.wait();
  });
  Workers::Owner other(loop_->workers(), [] {});
  for (int i = 0; i < 4; ++i) flood.submit();
  while (waiting < 4) ::usleep(100);  // and what is kept is made first
  const testing::WithoutNewThreads none;
  for (int i = 0; i < 50; ++i) flood.submit();
  std::atomic<int> brief = 0;
  std::atomic<bool> done = false;
  std::optional<Loop::Key> own;
  std::promise<void> known;
  const Turns task(*loop_, [&, is_known = known.get_future().share()](bool briefly) {
    is_known.wait();
    if (!briefly) {
      done = true;
      return Task::kNever;
    }
    ++brief;
    loop_->want_worker(*own);
    return Clock::now() + 1h;
  });
  own = task.key;
  known.set_value();
  loop_->call(task.key);
  while (!done) ::usleep(100);
  EXPECT_EQ(brief, 1);
  flood.drop();
  ended.set_value();
}

}  // namespace
}  // namespace bulkhead
