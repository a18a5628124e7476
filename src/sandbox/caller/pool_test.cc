#include "sandbox/caller/pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>

namespace bulkhead {
namespace {

TEST(Pool, LeavesDescriptorsForAllElse) {
  EXPECT_EQ(Pool::most_threads(0), 16U);
  EXPECT_LE(Pool::most_threads(1024) * 4, 1024U - 600);
  EXPECT_EQ(Pool::most_threads(1U << 20U), Pool::kMostThreads);
}

// As closing a socket does by SO_LINGER: a call that nobody expected to wait.
TEST(Pool, StopsWhateverAJobIsBlockedIn) {
  struct sigaction interrupt {};
  struct sigaction before {};
  interrupt.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(kInterruptSignal, &interrupt, &before), 0);
  const Fd let_go(::eventfd(0, EFD_CLOEXEC));
  Listener nobody(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  std::atomic<bool> blocked = false;
  Pool pool(nobody, [&](const Notification&) {
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
  ::sigaction(kInterruptSignal, &before, nullptr);
}

}  // namespace
}  // namespace bulkhead
