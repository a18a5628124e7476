#include "sandbox/caller/pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>

namespace bulkhead {
namespace {

// This process may have so many.
class Descriptors {
 public:
  explicit Descriptors(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit now{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~Descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

 private:
  rlimit before_{};
};

// As closing a socket does by SO_LINGER: a call that nobody expected to wait.
TEST(Pool, StopsWhateverAJobIsBlockedIn) {
  const auto workers = std::move(Workers::make()).value();
  const Fd let_go(::eventfd(0, EFD_CLOEXEC));
  Listener nobody(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  std::atomic<bool> blocked = false;
  Pool pool(*workers, nobody, [&](const Notification&) {
    blocked = true;
    pollfd forever{let_go.get(), POLLIN, 0};
    (void)::poll(&forever, 1, -1);
  });
  pool.submit({});
  while (!blocked) ::usleep(1000);
  const auto stopped = std::async(std::launch::async, [&] { pool.stop(); });
  EXPECT_EQ(stopped.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  const uint64_t one = 1;
  ASSERT_EQ(::write(let_go.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  stopped.wait();
}

// Two of one loop's: who takes all that it gets leaves the other enough.
TEST(Pool, WhoTakesAllLeavesTheOtherItsShare) {
  const auto workers = std::move(Workers::make()).value();
  const Descriptors few(700);  // 25 threads that wait
  const size_t most = Workers::most_waiting(700);
  ASSERT_EQ(most, 25U);
  const Fd let_go(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Listener nobody(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  const auto block = [&](std::atomic<size_t>& under_way) {
    return [&](const Notification&) {
      ++under_way;
      while (!pool_is_stopping()) {
        pollfd forever{let_go.get(), POLLIN, 0};
        (void)::poll(&forever, 1, 100);
      }
    };
  };
  std::atomic<size_t> greedy = 0, modest = 0;
  Pool one(*workers, nobody, block(greedy));
  Pool other(*workers, nobody, block(modest));
  // This thread makes the others; what is kept for an owner is known when the first job has begun.
  const auto wait_for_assured = [&](const std::atomic<size_t>& under_way) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (under_way < Workers::kAssured && std::chrono::steady_clock::now() < until) {
      workers->make_more();
      ::usleep(1000);
    }
  };
  for (int i = 0; i < 100; ++i) one.submit({});
  wait_for_assured(greedy);
  EXPECT_GE(greedy, Workers::kAssured);
  for (int i = 0; i < 16; ++i) other.submit({});
  wait_for_assured(modest);
  EXPECT_EQ(modest, Workers::kAssured);
  EXPECT_LT(greedy, most);
  EXPECT_FALSE(one.idle());
}

// Alone, all of them.
TEST(Pool, WhoIsAloneHasAll) {
  const auto workers = std::move(Workers::make()).value();
  const Descriptors few(700);
  Listener nobody(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  std::atomic<size_t> under_way = 0;
  std::atomic<bool> let_go = false;
  std::atomic<size_t> done = 0;
  Pool pool(*workers, nobody, [&](const Notification&) {
    ++under_way;
    while (!let_go) ::usleep(1000);
    ++done;
  });
  for (int i = 0; i < 100; ++i) pool.submit({});
  while (under_way < Workers::most_waiting(700)) ::usleep(1000);
  pool.tick();
  ::usleep(10'000);
  EXPECT_EQ(under_way, Workers::most_waiting(700));
  // What waited for a thread has one now.
  let_go = true;
  while (done < 100) ::usleep(1000);
  while (!pool.idle()) ::usleep(1000);
}

}  // namespace
}  // namespace bulkhead
