// Whole compartments under supervise(): how they end, and what must not outlive them.
#include "sandbox/run/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <future>
#include <sstream>
#include <thread>

#include "policy/policy_judge.h"
#include "sandbox/plan/probe.h"
#include "sandbox/testing/served_child.h"
#include "sandbox/testing/without_new_threads.h"

namespace bulkhead {
namespace {

using testing::Folder;
using ::testing::HasSubstr;

Entry entry(std::string text) { return {std::move(text), {}}; }

class SuperviseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Feature& feature : probe_features())
      if (feature.required && !feature.present) GTEST_SKIP() << "needs " << feature.name;
    inputs_.manifest.files.read = {entry("/usr"), entry("/lib"),        entry("/lib64"),
                                   entry("/bin"), entry("/etc"),        entry("/proc"),
                                   entry("/dev"), entry(folder_.path())};
    inputs_.manifest.files.write = {entry(folder_.path()), entry("/dev/null")};
    inputs_.manifest.run = {entry("/usr"), entry("/bin")};
    inputs_.variables.home = "/nonexistent";
  }

  Result<RunReport> supervise_command(std::vector<std::string> command) {
    auto policy = Policy::compile(inputs_);
    if (!policy.ok()) return std::move(policy).error();
    auto plan =
        make_plan(*policy, std::move(command), {"PATH=/usr/bin:/bin"}, folder_.path(), options_);
    if (!plan.ok()) return std::move(plan).error();
    PolicyJudge judge(*policy, options_.enforcement);
    return supervise(*plan, judge, {});
  }
  // describe() of the outcome.
  std::string run(const std::string& script) {
    auto report = supervise_command({"/bin/sh", "-c", script});
    return report.ok() ? describe(report->outcome) : to_string(report.error());
  }
  std::string output() { return testing::read_all(folder_ / "out"); }

  Folder folder_;
  PolicyInputs inputs_;
  PlanOptions options_;
};

TEST_F(SuperviseTest, EndsAsTheProgramEnds) {
  EXPECT_EQ(run("exit 0"), describe(Exited{0}));
  EXPECT_EQ(run("exit 7"), describe(Exited{7}));
  EXPECT_EQ(run("kill -TERM $$"), describe(Signaled{SIGTERM, false}));
  EXPECT_EQ(run("kill -KILL $$"), describe(Signaled{SIGKILL, false}));
}

TEST_F(SuperviseTest, AProgramThatCannotRunIsTold) {
  folder_.file("text", "no program", 0755);
  auto report = supervise_command({folder_ / "text"});
  ASSERT_TRUE(report.ok()) << to_string(report.error());
  const auto* outcome = std::get_if<CannotRun>(&report->outcome);
  ASSERT_NE(outcome, nullptr) << describe(report->outcome);
  EXPECT_EQ(outcome->errno_value, ENOEXEC);
}

TEST_F(SuperviseTest, WhatIsLeftRunningEndsWithTheProgram) {
  ASSERT_EQ(run("(trap '' HUP TERM; setsid sleep 1000 & echo $! > out; sleep 1000) & "
                "while ! [ -s out ]; do :; done"),
            describe(Exited{0}));
  EXPECT_NE(output(), "ENOENT");
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::error_code ignored;
    EXPECT_NE(std::filesystem::read_symlink(process.path() / "cwd", ignored), folder_.path())
        << process.path();
  }
}

TEST_F(SuperviseTest, AStoppedProgramGoesOnWhenTheSupervisorIsTold) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setpgid(0, 0);
    const auto report = supervise_command({"/bin/sh", "-c",
                                           "trap 'echo continued > out' CONT; echo > ready; "
                                           "kill -STOP $$; until [ -s out ]; do :; done"});
    ::_exit(report.ok() ? exit_code(report->outcome) : 99);
  }
  struct stat about {};
  int status = 0;
  while (::stat((folder_ / "ready").c_str(), &about) != 0) ::usleep(1000);
  // It is told again where the program had not stopped yet.
  while (::waitpid(child, &status, WUNTRACED | WNOHANG) == 0) {
    ::kill(child, SIGCONT);
    ::usleep(10'000);
  }
  EXPECT_TRUE(WIFEXITED(status));  // and has never stopped itself
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(output(), "continued\n");
}

TEST_F(SuperviseTest, SignalsToTheSupervisorReachTheProgram) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setpgid(0, 0);
    const auto report = supervise_command(
        {"/bin/sh", "-c",
         "trap 'echo usr1 > got; exit 5' USR1; echo > ready; while :; do sleep 0.01; done"});
    ::_exit(report.ok() ? exit_code(report->outcome) : 99);
  }
  struct stat about {};
  while (::stat((folder_ / "ready").c_str(), &about) != 0 &&
         ::waitpid(child, nullptr, WNOHANG) == 0)
    ::usleep(1000);
  ::kill(child, SIGUSR1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 5);
}

TEST_F(SuperviseTest, TheCallersSignalsAreAsBefore) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_EQ(run("exit 0"), describe(Exited{0}));
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int i = 1; i < NSIG; ++i) EXPECT_EQ(sigismember(&before, i), sigismember(&after, i)) << i;
}

// One process, two compartments. What one of them is blocked in is interrupted at its end although
// the other, which was there first, has ended before.
TEST_F(SuperviseTest, TheFirstToEndTakesNothingFromAnother) {
  options_.serve_every_call = true;
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  const auto is_there = [&](const char* name) {
    struct stat about {};
    return ::stat((folder_ / name).c_str(), &about) == 0;
  };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    std::thread first([&] { run("echo > first; while ! [ -e second ]; do sleep 0.01; done"); });
    while (!is_there("first")) ::usleep(1000);
    std::string second;
    std::thread blocked(
        [&] { second = run("(read x < fifo) & sleep 0.3; echo > second; sleep 1"); });
    first.join();
    blocked.join();
    ::_exit(second == describe(Exited{0}) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SuperviseTest, ThreadsAndManyProcesses) {
  EXPECT_EQ(
      run("i=0; while [ $i -lt 300 ]; do /bin/true & i=$((i+1)); done; wait; echo done > out"),
      describe(Exited{0}));
  EXPECT_EQ(output(), "done\n");
}

TEST_F(SuperviseTest, AWallTimeLimitEndsIt) {
  inputs_.manifest.limits.wall_time = std::chrono::milliseconds(200);
  auto report = supervise_command({"/bin/sleep", "1000"});
  ASSERT_TRUE(report.ok()) << to_string(report.error());
  EXPECT_TRUE(std::holds_alternative<LimitBreached>(report->outcome)) << describe(report->outcome);
}

TEST_F(SuperviseTest, TheNumberOfProcessesIsHeld) {
  // The children stay: dash's handler for SIGCHLD has no SA_RESTART, and a signal that comes before
  // the supervisor has a call interrupts it.
  const std::string forks =
      "i=0; while [ $i -lt 20 ]; do sleep 1000 2>/dev/null & i=$((i+1)); done";
  inputs_.manifest.limits.processes = 5;
  EXPECT_EQ(run(forks), describe(Exited{2}));  // sh ends when it cannot fork
  inputs_.manifest.limits.processes = 40;
  EXPECT_EQ(run(forks), describe(Exited{0}));
}

TEST_F(SuperviseTest, ServedAndLeftToTheKernelLookTheSame) {
  const std::string script =
      "{ umask 027; echo a > f; mkdir -p d/e; ln -s ../f d/l; cat d/l; ln f h; mv h d/e/h; stat -c "
      "'%A %h' f d/e; rm -r d; cat f; cat none; ls; } > out 2>&1";
  EXPECT_EQ(run(script), describe(Exited{0}));
  const std::string kernel = output();
  ASSERT_EQ(::unlink((folder_ / "f").c_str()), 0);
  options_.serve_every_call = true;
  EXPECT_EQ(run(script), describe(Exited{0}));
  EXPECT_EQ(output(), kernel);
  EXPECT_THAT(kernel, HasSubstr("-rw-r----- 2"));
}

// A process of another user makes files of that user, and reads only what that user may.
TEST_F(SuperviseTest, AChangedIdentityIsTheFilesOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  options_.serve_every_call = true;
  ::chmod(folder_.path().c_str(), 0777);
  folder_.file("roots", "secret", 0600);
  EXPECT_EQ(run("setpriv --reuid=1234 --regid=2345 --clear-groups sh -c 'echo x > theirs; mkdir "
                "folder; cat roots' > out 2>&1"),
            describe(Exited{1}));
  EXPECT_THAT(output(), HasSubstr("Permission denied"));
  struct stat about {};
  ASSERT_EQ(::stat((folder_ / "theirs").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 1234U);
  EXPECT_EQ(about.st_gid, 2345U);
  ASSERT_EQ(::stat((folder_ / "folder").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 1234U);
}

// A server outside that goes by its peer's user meets the user that the process has become.
TEST_F(SuperviseTest, AChangedIdentityIsThePeerOfASocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ::chmod(folder_.path().c_str(), 0777);
  const auto at = [&](const char* name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ / name).copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  };
  const auto peer_of = [](const Fd& socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    EXPECT_EQ(::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
    return fmt::format("{} {}", peer.uid, peer.gid);
  };
  const sockaddr_un theirs = at("theirs"), ours = at("ours");
  const Fd server(::socket(AF_UNIX, SOCK_STREAM, 0)), client(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&ours), sizeof ours), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ::chmod(ours.sun_path, 0777);
  std::thread run_it([&] {
    EXPECT_EQ(run("exec setpriv --reuid=1234 --regid=2345 --clear-groups python3 -c '"
                  "import socket\n"
                  "one, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)\n"
                  "other.bind(\"theirs\")\nother.listen()\n"
                  "one.connect(\"ours\")\none.recv(1)'"),
              describe(Exited{0}));
  });
  {
    const Fd accepted(::accept(server.get(), nullptr, nullptr));
    EXPECT_EQ(peer_of(accepted), "1234 2345");
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&theirs), sizeof theirs),
              0);
    EXPECT_EQ(peer_of(client), "1234 2345");
  }
  run_it.join();
}

// One of our epolls has the listener.
bool listener_is_watched() {
  const auto link = [](const std::string& fd) {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/fd/" + fd, ignored).string();
  };
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    if (link(entry.path().filename()) != "anon_inode:[eventpoll]") continue;
    std::istringstream lines(testing::read_all(entry.path()));
    for (std::string word, fd; lines >> word;)
      if (word == "tfd:" && lines >> fd && link(fd).starts_with("anon_inode:seccomp")) return true;
  }
  return false;
}

mode_t umask_here() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

// Looks around where calls are served.
class LookingJudge final : public PolicyJudge {
 public:
  using PolicyJudge::PolicyJudge;
  void stop_asking() override {
    ++stops;
    PolicyJudge::stop_asking();
  }
  std::atomic<int> looks = 0, watched = 0, stops = 0;
  std::atomic<mode_t> mask = 0;

 private:
  void refused(Kind /*kind*/, std::string_view /*resource*/, std::string_view /*reason*/,
               const Attempt& /*attempt*/) override {
    ++looks;
    watched += listener_is_watched() ? 1 : 0;
    mask = umask_here();
  }
};

class HostsLoopTest : public SuperviseTest {
 protected:
  void prepare(const std::string& script) {
    options_.serve_every_call = true;
    auto policy = std::move(Policy::compile(inputs_)).value();
    plan_.emplace(std::move(make_plan(policy, {"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin"},
                                      folder_.path(), options_))
                      .value());
    judge_.emplace(policy);
    auto prepared = Supervisor::prepare(*plan_, *judge_, *loop_, {});
    ASSERT_TRUE(prepared.ok()) << to_string(prepared.error());
    supervisor_ = std::move(*prepared);
  }

  std::string refused() { return other_.file("file", "no grant"); }

  Folder other_;
  const std::unique_ptr<Loop> loop_ = std::move(Loop::make()).value();
  std::optional<Plan> plan_;
  std::optional<LookingJudge> judge_;
  std::unique_ptr<Supervisor> supervisor_;
};

// Whoever takes all of the user's watches must not end others' compartments.
TEST_F(HostsLoopTest, TheListenerIsWatchedThroughout) {
  prepare(fmt::format("cat {0}; sleep 0.5; cat {0}; exit 3", refused()));
  ASSERT_TRUE(supervisor_->begin().ok());
  EXPECT_EQ(describe(supervisor_->wait()->outcome), describe(Exited{3}));
  EXPECT_GE(judge_->looks, 2);
  EXPECT_EQ(judge_->watched, judge_->looks);
}

TEST_F(HostsLoopTest, AProgramsUmaskDoesNotStayWithTheThread) {
  prepare(fmt::format("umask 0777; mkdir folder; cat {}; exit 3", refused()));
  ASSERT_TRUE(supervisor_->begin().ok());
  EXPECT_EQ(describe(supervisor_->wait()->outcome), describe(Exited{3}));
  EXPECT_GE(judge_->looks, 1);
  EXPECT_EQ(judge_->mask, umask_here());
  struct stat about {};
  ASSERT_EQ(::stat((folder_ / "folder").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0U);
}

// The loop's own thread has no time for the end.
TEST_F(HostsLoopTest, TheEndWaitsForAThreadAndTheProgramDoesNot) {
  prepare("echo > ready; while :; do :; done");
  const pid_t program = supervisor_->program();
  ASSERT_TRUE(supervisor_->begin().ok());
  struct stat about {};
  while (::stat((folder_ / "ready").c_str(), &about) != 0) ::usleep(1000);
  ::usleep(600'000);  // nothing is served any more
  std::promise<void> let_go;
  const std::shared_future<void> gone = let_go.get_future().share();
  {
    const testing::WithoutNewThreads none;
    while (loop_->workers().run([gone] { gone.wait(); })) {
    }
    supervisor_->end();
    EXPECT_EQ(supervisor_->wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(500)),
              nullptr);
    EXPECT_NE(::kill(program, 0), 0);
    EXPECT_EQ(judge_->stops, 0);
  }
  let_go.set_value();
  EXPECT_EQ(describe(supervisor_->wait()->outcome), describe(Ended{}));
  EXPECT_GE(judge_->stops, 1);
}

TEST_F(SuperviseTest, OrdinaryUserToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chown(folder_.path().c_str(), 1000, 1000), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(1000) != 0 || ::setuid(1000) != 0) ::_exit(98);
    const auto report =
        supervise_command({"/bin/sh", "-c", "id -u > out; cat /etc/hostname > /dev/null"});
    ::_exit(report.ok() ? exit_code(report->outcome) : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  EXPECT_EQ(output(), "1000\n");
}

}  // namespace
}  // namespace bulkhead
