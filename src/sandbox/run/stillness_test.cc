#include "sandbox/run/stillness.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
};

// Runs `run` in a process of its own, beside one that `beside` is, once that is ready. Returns the
// status that the first ended with.
template <typename Beside, typename Run>
int run_beside(Shared& shared, const Beside& beside, const Run& run) {
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) beside(shared);
    while (!shared.ready) usleep(100);
    _exit(run());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

class StillnessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
  }
  void TearDown() override {
    if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
  }
  static bool reach(Stillness& still) {
    const std::atomic<bool> cancelled = false;
    return still.reach(std::chrono::seconds(10), cancelled);
  }
  static Generations ours() { return descendants_of(getpid()); }

  Shared* shared_ = nullptr;
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

TEST_F(StillnessTest, NobodySeesTheStops) {
  EXPECT_EQ(run_beside(*shared_, watch_a_child,
                       [] {
                         for (int i = 0; i < 300; ++i) {
                           Stillness still(ours);
                           if (!reach(still)) return 3;
                         }
                         usleep(20'000);
                         return 0;
                       }),
            0);
  EXPECT_EQ(shared_->stops_seen, 0);
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

TEST_F(StillnessTest, WhoContinuesItselfHasMoved) {
  EXPECT_EQ(run_beside(*shared_, wake_by_oneself,
                       [] {
                         Stillness still(ours);
                         if (!reach(still)) return 3;
                         usleep(400'000);
                         return still.holds(0) ? 4 : 0;
                       }),
            0);
}

// As where others have taken all descriptors.
// A program that another run is about to start is known for what it is only before some call of its
// own; and it is stopped on its way out of that.
TEST_F(StillnessTest, WhoIsNoLongerListedGoesOnToo) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) usleep(100);
  }
  {
    bool listed = true;
    Stillness still([&] { return listed ? Generations{{child}} : Generations{}; });
    EXPECT_TRUE(reach(still));
    siginfo_t info = {};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED), 0);
    listed = false;
  }
  siginfo_t info = {};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WCONTINUED | WNOHANG), 0);
  EXPECT_EQ(info.si_code, CLD_CONTINUED);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(StillnessTest, WhoSeesNothingIsNotSureOfAnything) {
  EXPECT_EQ(run_beside(*shared_, watch_a_child,
                       [] {
                         // UBSan wants a descriptor for its first look at what an error's text is
                         // made of.
                         (void)switches_of("/proc/none");
                         rlimit none{};
                         if (getrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
                         none.rlim_cur = 0;
                         if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
                         Stillness still(ours);
                         const std::atomic<bool> cancelled = false;
                         return still.reach(std::chrono::milliseconds(50), cancelled) ? 3 : 0;
                       }),
            0);
}

}  // namespace
}  // namespace bulkhead
