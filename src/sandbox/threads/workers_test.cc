#include "sandbox/threads/workers.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "sandbox/kernel/interrupt.h"
#include "sandbox/testing/without_new_threads.h"

namespace bulkhead {
namespace {

size_t threads() {
  size_t count = 0;
  DIR* const dir = ::opendir("/proc/self/task");
  while (const dirent* const entry = ::readdir(dir)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(dir);
  return count;
}

TEST(Workers, EachJobHasAThreadAndNoneIsLeft) {
  const size_t before = threads();
  {
    const auto workers = std::move(Workers::make()).value();
    std::promise<void> let_go;
    const std::shared_future<void> gone = let_go.get_future().share();
    std::atomic<int> under_way = 0, done = 0;
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(workers->run([&, gone] {
        ++under_way;
        gone.wait();
        ++done;
      }));
    while (under_way < 20) ::usleep(1000);  // each waits for all
    EXPECT_EQ(threads(), before + 20);
    let_go.set_value();
    while (done < 20) ::usleep(1000);
    // Those that are there do what comes next.
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(workers->run([&] { ++done; }));
      while (done < 21 + i) std::this_thread::yield();
    }
    EXPECT_LE(threads(), before + 21);  // one that is done may not be idle yet
  }
  EXPECT_EQ(threads(), before);
}

TEST(Workers, OnesThatNobodyNeedsEnd) {
  const size_t before = threads();
  const auto workers = std::move(Workers::make()).value();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(workers->run([] {}));
  for (int i = 0; i < 1000 && threads() > before; ++i) ::usleep(10'000);
  EXPECT_EQ(threads(), before);
}

// What one call needs must not reach another, nor the host.
TEST(Workers, UmaskFolderAndSignalsAreTheirOwn) {
  const mode_t mask = ::umask(022);
  char folder[4096];
  ASSERT_NE(::getcwd(folder, sizeof folder), nullptr);
  const auto workers = std::move(Workers::make()).value();
  std::atomic<int> blocked = -1;
  ASSERT_TRUE(workers->run([&] {
    ::umask(0777);
    const bool went = ::chdir("/") == 0;
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    blocked = went && ::sigismember(&now, SIGTERM) == 1 && ::sigismember(&now, SIGCHLD) == 1 &&
              ::sigismember(&now, interrupt_signal()) == 0;
  }));
  while (blocked < 0) ::usleep(1000);
  EXPECT_EQ(blocked, 1);
  EXPECT_EQ(::umask(mask), 022U);
  char after[4096];
  EXPECT_STREQ(::getcwd(after, sizeof after), folder);
}

// A thread has jobs of several compartments, one after another.
TEST(Workers, EachJobBeginsWithTheUsualUmask) {
  const mode_t mask = ::umask(027);
  const auto workers = std::move(Workers::make()).value();
  std::atomic<int> done = 0;
  std::promise<std::pair<pthread_t, mode_t>> first, second;
  const auto job = [](auto& seen) {
    return [&seen] { seen.set_value({::pthread_self(), ::umask(0777)}); };
  };
  ASSERT_TRUE(workers->run(job(first)));
  const auto [thread, usual] = first.get_future().get();
  EXPECT_EQ(usual, 027U);
  for (bool there = false; !there;)  // once it is idle
    std::thread([&] { there = workers->run(job(second)); }).join();
  const auto [same, again] = second.get_future().get();
  EXPECT_TRUE(::pthread_equal(thread, same));
  EXPECT_EQ(again, 027U);
  ::umask(mask);
}

// One thread makes them all; to the others those are given that are there.
TEST(Workers, OnlyTheMakerMakesThreads) {
  const auto workers = std::move(Workers::make()).value();
  std::atomic<int> woken = 0, done = 0;
  bool ran = true;
  workers->become_maker([&] { ++woken; });
  Workers::Owner owner(*workers, [&] { ++done; });
  Workers::Owner dropped(*workers, [&] { done = 1000; });
  std::thread([&] {
    ran = workers->run([&] { ++done; });
    owner.submit();
    dropped.submit();
  }).join();
  EXPECT_FALSE(ran);
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(done, 0);
  EXPECT_TRUE(workers->is_short());
  dropped.drop();
  workers->make_more();
  while (done < 1) ::usleep(1000);
  for (bool there = false; !there;)  // once it is idle
    std::thread([&] { there = workers->run([&] { ++done; }); }).join();
  while (done < 2) ::usleep(1000);
  EXPECT_EQ(done, 2);
  EXPECT_FALSE(workers->is_short());
}

// The system gives no more threads than `count`.
class ScarceThreads : public ::testing::Test {
 protected:
  // Takes all that there are, and that are all there will be.
  void have(int count) {
    std::atomic<int> taken = 0;
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(workers_->run([&taken, gate = gate_] {
        ++taken;
        gate.wait();
      }));
    while (taken < count) ::usleep(1000);
    none_.emplace();
  }
  void let_go() { go_.set_value(); }

  std::promise<void> go_;
  const std::shared_future<void> gate_ = go_.get_future().share();
  const std::unique_ptr<Workers> workers_ = std::move(Workers::make()).value();
  std::optional<testing::WithoutNewThreads> none_;
};

TEST_F(ScarceThreads, OwnersAreServedInTurn) {
  have(1);
  std::mutex mutex;
  std::string order;
  const auto append = [&](char name) {
    return [&, name] {
      const std::lock_guard lock(mutex);
      order += name;
    };
  };
  {
    Workers::Owner flood(*workers_, append('f')), one(*workers_, append('1')),
        other(*workers_, append('2'));
    for (int i = 0; i < 6; ++i) flood.submit();
    one.submit();
    one.submit();
    other.submit();
    let_go();
    for (size_t done = 0; done < 9; ::usleep(1000)) {
      const std::lock_guard lock(mutex);
      done = order.size();
    }
  }
  EXPECT_EQ(order, "f12f1ffff");
}

// What waits for ever has all threads but those that are kept.
TEST_F(ScarceThreads, SomeAreKeptForFirstJobs) {
  have(4);
  std::atomic<int> waiting = 0, first = 0, second = 0;
  std::promise<void> ready, ended;
  const auto until = [](std::atomic<int>& count, std::promise<void>& end) {
    return [&count, gone = end.get_future().share()] {
      ++count;
      gone.wait();
    };
  };
  Workers::Owner flood(*workers_, until(waiting, ended));
  Workers::Owner one(*workers_, until(first, ready));
  Workers::Owner other(*workers_, [&] { ++second; });
  for (int i = 0; i < 100; ++i) flood.submit();
  let_go();
  while (waiting < 2) ::usleep(1000);
  ::usleep(2'500'000);  // as long as the others wait, and not only until threads without use end
  one.submit();
  one.submit();
  while (first < 1) ::usleep(1000);
  for (int i = 1; i <= 20; ++i) {
    other.submit();
    while (second < i) ::usleep(1000);
  }
  // Nobody's second job has taken what they had.
  EXPECT_EQ(waiting, 2);
  EXPECT_EQ(first, 1);
  EXPECT_TRUE(workers_->is_short());
  flood.drop();
  ready.set_value();
  while (first < 2) ::usleep(1000);
  ended.set_value();
}

// A turn of the loop's is no job of an owner's: the loop can do it by itself.
TEST_F(ScarceThreads, NoTurnTakesWhatIsKept) {
  have(3);
  std::atomic<int> waiting = 0, first = 0;
  std::promise<void> ended;
  Workers::Owner flood(*workers_, [&, gone = ended.get_future().share()] {
    ++waiting;
    gone.wait();
  });
  Workers::Owner other(*workers_, [&] { ++first; });
  flood.submit();
  let_go();
  while (waiting < 1) ::usleep(1000);
  for (int i = 1; i <= 5; ++i) {
    other.submit();
    while (first < i) ::usleep(1000);
    EXPECT_FALSE(workers_->run([] {}));
  }
  ended.set_value();
}

TEST(Workers, LeaveDescriptorsForAllElse) {
  EXPECT_EQ(Workers::most_waiting(0), Workers::kAssured);
  EXPECT_LE(Workers::most_waiting(1024) * 4, 1024U - 600);
  EXPECT_EQ(Workers::most_waiting(1U << 20U), Workers::kMostWaiting);
}

}  // namespace
}  // namespace bulkhead
