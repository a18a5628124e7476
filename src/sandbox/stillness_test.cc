#include "sandbox/stillness.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace bulkhead {
namespace {

// What the processes of a test tell one another.
struct Shared {
  std::atomic<int> stops_seen = 0;
  std::atomic<bool> ready = false;
  std::atomic<bool> still = true;
};

// As a shell with job control, or the compartment's first process: waits for its child to stop.
[[noreturn]] void watch_a_child(Shared& shared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shared.ready = true;
    for (;;) usleep(100);  // awake as often as not
  }
  for (;;) {
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WSTOPPED) == 0 && info.si_code == CLD_STOPPED) ++shared.stops_seen;
  }
}

TEST(Stillness, NobodySeesTheStops) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared;
  const pid_t run = fork();
  if (run == 0) {
    if (fork() == 0) watch_a_child(shared);
    while (!shared.ready) usleep(100);
    const std::atomic<bool> cancelled = false;
    for (int i = 0; i < 300; ++i) {
      Stillness still([] { return descendants_of(getpid()); });
      if (!still.reach(std::chrono::seconds(10), cancelled)) _exit(3);
    }
    usleep(20'000);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(run, &status, 0), run);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared.stops_seen, 0);
  munmap(memory, sizeof(Shared));
}

// As one that draws over a question, and is asleep again before anybody looks.
[[noreturn]] void wake_by_oneself(Shared& shared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGCONT, [](int) {});
  timer_t timer{};
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  itimerspec spec{};
  spec.it_value.tv_nsec = spec.it_interval.tv_nsec = 300'000'000;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &spec, nullptr) != 0)
    _exit(1);
  shared.ready = true;
  for (;;) raise(SIGSTOP);
}

TEST(Stillness, WhoContinuesItselfHasMoved) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared;
  const pid_t run = fork();
  if (run == 0) {
    if (fork() == 0) wake_by_oneself(shared);
    while (!shared.ready) usleep(100);
    const std::atomic<bool> cancelled = false;
    Stillness still([] { return descendants_of(getpid()); });
    if (!still.reach(std::chrono::seconds(10), cancelled)) _exit(3);
    usleep(400'000);
    _exit(still.holds(0) ? 4 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(run, &status, 0), run);
  EXPECT_EQ(status, 0);
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace bulkhead
