// What a launch leaves alone in the host, and what is left where somebody dies in the middle of it.
#include "sandbox/launch/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "sandbox/kernel/notification.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/launch/image.h"
#include "sandbox/launch/report.h"
#include "sandbox/limits/usage.h"
#include "sandbox/plan/probe.h"
#include "sandbox/testing/going_on.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<Plan> plan(const std::string& script, Stdio stdio = {{0, 0}, {1, 1}, {2, 2}}) {
  PolicyInputs inputs;
  inputs.manifest.files.read = {{"/", {}}};
  inputs.manifest.files.write = {{"/", {}}};
  inputs.manifest.run = {{"/", {}}};
  inputs.variables.home = "/nonexistent";
  BULKHEAD_TRY(auto policy, Policy::compile(inputs));
  BULKHEAD_TRY(Plan made,
               make_plan(policy, {"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "INSIDE=of it"},
                         "/", {.enforcement = Enforcement::kEnforce}));
  made.stdio = std::move(stdio);
  return made;
}

class SpawnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Feature& feature : probe_features())
      if (feature.required && !feature.present) GTEST_SKIP() << "needs " << feature.name;
  }
  // The program's exit code, or -1.
  static int run(const Plan& plan) {
    auto compartment = launch(plan);
    if (!compartment.ok()) {
      ADD_FAILURE() << to_string(compartment.error());
      return -1;
    }
    Listener listener(std::move(compartment->listener));
    const testing::GoingOn going(listener);
    ProgramEvent event{};
    (void)!::recv(compartment->status.get(), &event, sizeof event, 0);
    kill_compartment(*compartment);
    return event.kind == ProgramEvent::Kind::kExited ? event.value : -1;
  }
};

std::string text_of(const std::string& path) {
  const auto text = read_file(path, 1 << 20);
  return text.ok() ? *text : "cannot read " + path;
}

TEST_F(SpawnTest, AnyDescriptorBecomesAnyNumber) {
  int ends[2][2];
  for (auto& pair : ends) ASSERT_EQ(::pipe2(pair, O_CLOEXEC), 0);
  const Fd from_us(ends[0][0]), to_it(ends[0][1]), from_it(ends[1][0]), to_us(ends[1][1]);
  // Each number is another's descriptor where these are low, as they are in a fresh process.
  auto made = plan("read line <&4; echo $line >&3; [ -e /proc/$$/fd/0 ] && exit 1; exit 0",
                   {{4, from_us.get()}, {3, to_us.get()}, {2, 2}, {250, 1}});
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(::write(to_it.get(), "through\n", 8), 8);
  EXPECT_EQ(run(*made), 0);
  char line[16] = {};
  EXPECT_EQ(::read(from_it.get(), line, sizeof line), 8);
  EXPECT_STREQ(line, "through\n");
}

TEST_F(SpawnTest, InitHasNothingOfTheHost) {
  const std::string secret = "spawn-test-" + std::to_string(::getpid()) + "-host-only";
  ::setenv("SPAWN_TEST", secret.c_str(), 1);
  auto made = plan("sleep 100");
  auto compartment = launch(*made);
  ::unsetenv("SPAWN_TEST");
  ASSERT_TRUE(compartment.ok()) << to_string(compartment.error());
  const std::string proc = fmt::format("/proc/{}/", compartment->init);
  EXPECT_EQ(text_of(proc + "cmdline"), std::string("bulkhead-init\0", 14));
  EXPECT_EQ(text_of(proc + "comm"), "bulkhead-init\n");
  uint64_t resident = 0;
  ASSERT_TRUE(parse_field(text_of(proc + "status"), "VmRSS", &resident));
  EXPECT_LT(resident, 256u << 10U);
  // It is not dumpable: its files in /proc are root's.
  if (::geteuid() != 0) {
    for (const char* file : {"environ", "auxv"})
      EXPECT_THAT(text_of(proc + file), HasSubstr("cannot read"));
    kill_compartment(*compartment);
    return;
  }
  EXPECT_EQ(text_of(proc + "environ"), "");
  const std::string maps = text_of(proc + "maps");
  EXPECT_THAT(maps, HasSubstr("bulkhead-init"));
  EXPECT_THAT(maps, Not(HasSubstr("[heap]")));
  EXPECT_THAT(maps, Not(HasSubstr(".so")));
  EXPECT_THAT(maps, Not(HasSubstr("bulkhead-orders")));  // given back
  std::string open;
  for (int number = 0; number < 64; ++number) {
    char target[128] = {};
    if (::readlink(fmt::format("{}fd/{}", proc, number).c_str(), target, sizeof target - 1) > 0)
      open += fmt::format("{} {}\n", number, std::string(target).substr(0, 7));
  }
  EXPECT_EQ(open, "0 /dev/nu\n1 /dev/nu\n2 /dev/nu\n3 socket:\n");
  kill_compartment(*compartment);
}

TEST_F(SpawnTest, TheProgramOfInitCannotBeChanged) {
  const auto image = init_image();
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(::pwrite(*image, "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(*image, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *image, 0), MAP_FAILED);
  EXPECT_EQ(*init_image(), *image);
  EXPECT_NE(::fcntl(*image, F_GETFD) & FD_CLOEXEC, 0);
}

// A host that becomes a daemon closes all that it does not know, and opens other files instead.
TEST_F(SpawnTest, TheProgramOfInitIsMadeAnewWhereItWasClosed) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto image = init_image();
    if (!image.ok()) ::_exit(90);
    const Fd other(::open("/bin/false", O_RDONLY | O_CLOEXEC));
    if (::dup2(other.get(), *image) < 0) ::_exit(91);
    auto made = plan("exit 7");
    ::_exit(made.ok() ? run(*made) : 92);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(SpawnTest, TheHostsLimitsAndMasksStayWhatTheyAre) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_MSGQUEUE, &before), 0);
  std::atomic<bool> done = false;
  std::atomic<int> changed = 0;
  std::thread watcher([&] {
    while (!done) {
      rlimit now{};
      (void)::getrlimit(RLIMIT_MSGQUEUE, &now);
      if (now.rlim_cur != before.rlim_cur || now.rlim_max != before.rlim_max) ++changed;
    }
  });
  sigset_t mask_before, mask_after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  for (int round = 0; round < 10; ++round) {
    auto made = plan("exit 5");
    auto compartment = launch(*made);
    ASSERT_TRUE(compartment.ok()) << to_string(compartment.error());
    const std::string limits = text_of(fmt::format("/proc/{}/limits", compartment->program));
    // Programs see the usual number.
    EXPECT_THAT(limits, HasSubstr(fmt::format("Max msgqueue size         {}", before.rlim_cur)));
    kill_compartment(*compartment);
  }
  done = true;
  watcher.join();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  EXPECT_EQ(std::memcmp(&mask_before, &mask_after, 8), 0);  // the kernel's part of it
  EXPECT_EQ(changed, 0);
}

TEST_F(SpawnTest, ManyThreadsLaunchAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        auto made = plan("exit 9");
        if (made.ok() && run(*made) == 9) ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 20);
}

// All that comes from the calling process, its orphans included, until none is left.
bool all_end_within(std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG | __WALL);
    if (pid < 0 && errno == ECHILD) return true;
    if (pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

// Runs `body` in a process whose orphans are its own, so that no other test's are waited for.
int apart(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// At every step: a launch takes about two milliseconds here.
TEST_F(SpawnTest, AHostThatIsKilledWhileItLaunchesLeavesNothing) {
  EXPECT_EQ(apart([] {
              std::mt19937 random(7);
              auto made = plan("sleep 1000");
              for (int round = 0; round < 150; ++round) {
                const pid_t host = ::fork();
                if (host == 0) {
                  for (;;) {
                    auto compartment = launch(*made);
                    if (!compartment.ok()) ::_exit(1);
                    kill_compartment(*compartment);
                  }
                }
                ::usleep(static_cast<useconds_t>(random() % 6000));
                ::kill(host, SIGKILL);
                if (!all_end_within(std::chrono::seconds(20))) return 2;
              }
              return 0;
            }),
            0);
}

// The processes of a launch, youngest last.
std::vector<pid_t> descendants(pid_t pid) {
  std::vector<pid_t> all;
  const std::string children = text_of(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (const char* at = children.c_str();;) {
    char* end = nullptr;
    const long child = std::strtol(at, &end, 10);
    if (end == at) return all;
    all.push_back(static_cast<pid_t>(child));
    for (const pid_t each : descendants(all.back())) all.push_back(each);
    at = end;
  }
}

// Whoever runs on its memory would after it has gone.
TEST_F(SpawnTest, ASpawnThatFailsLeavesNobody) {
  EXPECT_EQ(apart([] {
              const auto image = init_image();
              const auto orders = sealed_file("no-orders", "", false);
              int pair[2];
              if (!image.ok() || !orders.ok() ||
                  ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
                return 2;
              std::atomic<bool> done = false;
              std::thread killer([&, host = ::getpid()] {
                while (!done)
                  for (const pid_t pid : descendants(host)) ::kill(pid, SIGKILL);
              });
              int failed = 0, left = 0;
              for (int round = 0; round < 300; ++round) {
                Spawn spawn(*image, {pair[1], orders->get()});
                Fd pidfd;
                const auto init = spawn.start(pidfd);
                if (init.ok()) {
                  ::kill(*init, SIGKILL);
                  ::waitpid(*init, nullptr, __WALL);
                } else {
                  ++failed;
                }
                if (::waitpid(-1, nullptr, WNOHANG | __WALL) >= 0 || errno != ECHILD) ++left;
              }
              done = true;
              killer.join();
              return failed == 0 ? 3 : left > 0 ? 4 : 0;
            }),
            0);
}

TEST_F(SpawnTest, WhoeverOfItIsKilledALaunchEndsAndLeavesNothing) {
  EXPECT_EQ(apart([] {
              std::mt19937 random(11);
              std::atomic<bool> done = false;
              const pid_t host = ::getpid();
              std::thread killer([&] {
                while (!done) {
                  ::usleep(static_cast<useconds_t>(random() % 3000));
                  const auto all = descendants(host);
                  if (!all.empty()) ::kill(all[random() % all.size()], SIGKILL);
                }
              });
              auto made = plan("sleep 1000");
              int launched = 0;
              for (int round = 0; round < 150; ++round) {
                auto compartment = launch(*made);
                if (compartment.ok()) {
                  ++launched;
                  kill_compartment(*compartment);
                } else if (compartment.error().message.empty()) {
                  return 3;
                }
              }
              done = true;
              killer.join();
              if (launched == 150) return 4;  // nobody was killed: this proves nothing
              return all_end_within(std::chrono::seconds(20)) ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace bulkhead
