#include "sandbox/launch/compartment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <sstream>
#include <thread>

#include "base/fd.h"
#include "base/path.h"
#include "policy/policy.h"
#include "sandbox/kernel/capabilities.h"
#include "sandbox/kernel/landlock.h"
#include "sandbox/kernel/openat2.h"
#include "sandbox/launch/report.h"
#include "sandbox/plan/probe.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

Entry entry(std::string text) { return {std::move(text), {}}; }

// Everything granted, no scratch: /tmp is the machine's.
PolicyInputs everything() {
  PolicyInputs inputs;
  inputs.manifest.files.read = {entry("/")};
  inputs.manifest.files.write = {entry("/")};
  inputs.manifest.run = {entry("/")};
  inputs.variables.home = "/nonexistent";
  return inputs;
}

// Stands in for the supervisor: lets every notified call go on, so that Landlock alone decides, but
// opens by itself what is below `served`, as the compartment sees it.
class Everywhere {
 public:
  Everywhere(const Compartment& compartment, std::vector<std::string> served)
      : listener_(compartment.listener.get()),
        root_(compartment.root.get()),
        served_(std::move(served)),
        thread_([this] { serve(); }) {}
  ~Everywhere() {
    done_ = true;
    thread_.join();
  }
  Everywhere(const Everywhere&) = delete;
  Everywhere& operator=(const Everywhere&) = delete;

 private:
  void serve() {
    while (!done_) {
      pollfd ready{listener_, POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0 || (ready.revents & POLLIN) == 0) {
        if ((ready.revents & POLLHUP) != 0) return;
        continue;
      }
      seccomp_notif call{};
      if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
      seccomp_notif_resp answer{};
      answer.id = call.id;
      answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      if (call.data.nr != __NR_openat || !open(call))
        ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
  }
  bool open(const seccomp_notif& call) const {
    char path[256] = {};
    const iovec ours{path, sizeof path - 1};
    const iovec theirs{reinterpret_cast<void*>(call.data.args[1]), ours.iov_len};
    if (::process_vm_readv(static_cast<pid_t>(call.pid), &ours, 1, &theirs, 1, 0) <= 0)
      return false;
    if (std::none_of(served_.begin(), served_.end(),
                     [&](const std::string& tree) { return is_within(path, tree); }))
      return false;
    const int flags = static_cast<int>(call.data.args[2]);
    const mode_t mode = (flags & O_CREAT) != 0 ? 0600 : 0;
    const Fd fd(openat2_raw(root_, path, flags | O_NOCTTY | O_CLOEXEC, mode, RESOLVE_IN_ROOT));
    seccomp_notif_addfd add{};
    add.id = call.id;
    add.flags = SECCOMP_ADDFD_FLAG_SEND;
    add.srcfd = static_cast<uint32_t>(fd.get());
    return fd && ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0;
  }
  int listener_, root_;
  const std::vector<std::string> served_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

std::string folder_for_test() {
  char name[] = "/tmp/bulkhead-compartment-XXXXXX";
  EXPECT_NE(::mkdtemp(name), nullptr);
  return name;
}

// The program's standard output and error, where they are open: a file of the machine's is never
// written without the supervisor.
class Printing {
 public:
  explicit Printing(const std::string& file) {
    std::fflush(nullptr);
    Fd opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_TRUE(opened) << file;
    for (const int fd : {1, 2}) {
      kept_[fd - 1] = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, kAbove));
      if (kept_[fd - 1]) ::dup2(opened.get(), fd);
    }
  }
  ~Printing() {
    for (const int fd : {1, 2})
      if (kept_[fd - 1]) ::dup2(kept_[fd - 1].get(), fd);
  }
  Printing(const Printing&) = delete;
  Printing& operator=(const Printing&) = delete;

 private:
  static constexpr int kAbove = 10;
  std::array<Fd, 2> kept_;
};

class CompartmentTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Feature& feature : probe_features()) {
      if (feature.required && !feature.present) GTEST_SKIP() << "needs " << feature.name;
    }
    folder_ = folder_for_test();
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  Result<Plan> plan(const std::string& script, const PolicyInputs& inputs = everything()) {
    auto policy = Policy::compile(inputs);
    if (!policy.ok()) return policy.error();
    return make_plan(*policy, {"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "A=b"}, working_,
                     {.enforcement = enforcement_});
  }

  // Runs the plan to the program's end; reports in between are left out.
  ProgramEvent run(const Plan& plan, const std::string& output = "/dev/null") {
    auto compartment = [&] {
      const Printing printing(output);
      return launch(plan);
    }();
    if (!compartment.ok()) {
      ADD_FAILURE() << to_string(compartment.error());
      return {};
    }
    const Everywhere everywhere(*compartment, served_);
    const ProgramEvent event = last_event(*compartment);
    kill_compartment(*compartment);
    return event;
  }

  static ProgramEvent next_event(Compartment& compartment) {
    ProgramEvent event{};
    const ssize_t got = ::recv(compartment.status.get(), &event, sizeof event, 0);
    EXPECT_EQ(got, static_cast<ssize_t>(sizeof event));
    return event;
  }
  static ProgramEvent last_event(Compartment& compartment) {
    using Kind = ProgramEvent::Kind;
    for (;;) {
      const ProgramEvent event = next_event(compartment);
      if (event.kind != Kind::kStopped) return event;
      if (testing::Test::HasFailure()) return event;
    }
  }

  // What the script printed.
  std::string output(const std::string& script, const PolicyInputs& inputs = everything()) {
    const std::string file = folder_ + "/out";
    auto made = plan(script, inputs);
    if (!made.ok()) return "no plan: " + to_string(made.error());
    last_ = run(*made, file);
    auto text = read_file(file, 1 << 20);
    return text.ok() ? *text : to_string(text.error());
  }

  Enforcement enforcement_ = Enforcement::kEnforce;
  std::string folder_, working_ = "/";
  std::vector<std::string> served_;
  ProgramEvent last_{};
};

TEST_F(CompartmentTest, RunsAProgramAndReportsItsEnd) {
  auto made = plan("exit 7");
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  const ProgramEvent event = run(*made);
  EXPECT_EQ(event.kind, ProgramEvent::Kind::kExited);
  EXPECT_EQ(event.value, 7);
  made = plan("kill -TERM $$");
  const ProgramEvent killed = run(*made);
  EXPECT_EQ(killed.kind, ProgramEvent::Kind::kSignaled);
  EXPECT_EQ(killed.value, SIGTERM);
}

TEST_F(CompartmentTest, ProgramHasEnvironmentArgumentsAndFolder) {
  working_ = folder_;
  EXPECT_EQ(output("pwd; echo $A; echo \"$0\""), folder_ + "\nb\n/bin/sh\n");
}

TEST_F(CompartmentTest, DescriptorsAboveStdioAreClosed) {
  const Fd open_file(::open("/etc/passwd", O_RDONLY));  // not close-on-exec
  ASSERT_TRUE(open_file);
  // ls has opened the folder itself as 3.
  EXPECT_THAT(output("ls -l /proc/self/fd | sed 's/.* \\([0-9]* ->\\)/\\1/'"),
              Not(HasSubstr("passwd")));
  EXPECT_EQ(output("ls /proc/$$/fd; true"), "0\n1\n2\n");
}

TEST_F(CompartmentTest, ClosedStdioStaysClosed) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(0);
    ::close(2);
    auto made = plan(
        "[ -e /proc/$$/fd/0 ] && echo open0; "
        "[ -e /proc/$$/fd/2 ] && echo open2; true");
    if (!made.ok()) ::_exit(2);
    const ProgramEvent event = run(*made, folder_ + "/out");
    ::_exit(event.kind == ProgramEvent::Kind::kExited && event.value == 0 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto text = read_file(folder_ + "/out", 100);
  ASSERT_TRUE(text.ok()) << to_string(text.error());
  EXPECT_EQ(*text, "");
}

TEST_F(CompartmentTest, PrivilegesAreGone) {
  const std::string status = output("cat /proc/self/status");
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(status, HasSubstr("Seccomp:\t2"));
  const std::string kept = ::geteuid() == 0 ? "00000000000000ff" : "0000000000000000";
  static_assert(kRootKeeps == 0xff);
  EXPECT_THAT(status, HasSubstr("CapEff:\t" + kept));
  EXPECT_THAT(status, HasSubstr("CapPrm:\t" + kept));
  EXPECT_THAT(status, HasSubstr("CapBnd:\t" + kept));
  EXPECT_THAT(status, HasSubstr("CapInh:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("CapAmb:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr(fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}", ::geteuid())));
}

TEST_F(CompartmentTest, HasNamespacesOfItsOwn) {
  const std::string links =
      output("for n in user mnt pid net ipc; do readlink /proc/self/ns/$n; done");
  std::istringstream lines(links);
  for (const char* name : {"user", "mnt", "pid", "net", "ipc"}) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << links;
    char ours[64] = {};
    ASSERT_GT(::readlink(fmt::format("/proc/self/ns/{}", name).c_str(), ours, sizeof ours - 1), 0);
    EXPECT_THAT(line, testing::StartsWith(name));
    EXPECT_NE(line, ours);
  }
}

TEST_F(CompartmentTest, ProcShowsOnlyTheCompartment) {
  EXPECT_EQ(output("cat /proc/1/comm; ls /proc | grep -c '^[0-9]' | awk '{print ($1 < 8)}'"),
            "bulkhead-init\n1\n");
  // init holds a copy of the supervisor's memory.
  EXPECT_THAT(output("cat /proc/1/environ || echo refused"), HasSubstr("refused"));
  EXPECT_THAT(output("head -c1 /proc/1/mem || echo refused"), HasSubstr("refused"));
  EXPECT_THAT(output("ls /proc/1/root/ || echo refused"), HasSubstr("refused"));
  EXPECT_THAT(output("readlink /proc/1/fd/3 || echo refused"), HasSubstr("refused"));
}

TEST_F(CompartmentTest, MachineSettingsAreReadOnly) {
  for (const char* file : {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"}) {
    EXPECT_THAT(output(fmt::format("echo x > {} && echo WRITTEN", file)),
                Not(HasSubstr("WRITTEN")));
  }
  EXPECT_THAT(output("mkdir /sys/fs/cgroup/bulkhead_test && echo MADE"), Not(HasSubstr("MADE")));
}

TEST_F(CompartmentTest, MountsAndSignalsOutwardsAreRefused) {
  // The listener lets everything go on, so this is the kernel's own refusal.
  EXPECT_THAT(output("mount -t tmpfs x /mnt && echo MOUNTED; umount /proc && echo UNMOUNTED"),
              testing::AllOf(Not(HasSubstr("MOUNTED")), Not(HasSubstr("UNMOUNTED"))));
  // 0 means the own process group, which the supervisor (this test) belongs to. The shell itself
  // ignores the signal; were we hit, this test would not go on.
  EXPECT_THAT(output("trap '' USR1; kill -USR1 0; echo sent"), HasSubstr("sent"));
  EXPECT_THAT(output("kill -9 1 && echo KILLED"), Not(HasSubstr("KILLED")));
}

TEST_F(CompartmentTest, UserNamespacesEndHere) {
  // The listener lets clone and unshare go on; the kernel refuses all the same.
  EXPECT_THAT(output("unshare -U true && echo MADE; unshare -n true && echo MADE; echo end"),
              testing::AllOf(HasSubstr("end"), Not(HasSubstr("MADE"))));
}

TEST_F(CompartmentTest, NetworkIsLoopbackAlone) {
  EXPECT_EQ(output("cat /proc/net/dev | grep -c ':'"), "1\n");
  EXPECT_THAT(output("cat /proc/net/fib_trie"), HasSubstr("127.0.0.1"));
  auto made = plan("true");
  auto compartment = launch(*made);
  ASSERT_TRUE(compartment.ok()) << to_string(compartment.error());
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  EXPECT_TRUE(compartment->dns_udp[0] && compartment->dns_tcp[0]);
  EXPECT_EQ(
      ::getsockname(compartment->dns_udp[0].get(), reinterpret_cast<sockaddr*>(&address), &size),
      0);
  EXPECT_GT(compartment->dns_udp[0].get(), 2);
  struct stat status;
  EXPECT_EQ(::fstat(compartment->root.get(), &status), 0);
  EXPECT_NE(compartment->user_namespace, 0u);
  EXPECT_EQ(::kill(compartment->program, 0), 0);
  kill_compartment(*compartment);
  kill_compartment(*compartment);  // twice does no harm
}

TEST_F(CompartmentTest, ResolverConfigurationNamesTheStub) {
  if (::access("/etc/resolv.conf", R_OK) != 0) GTEST_SKIP() << "needs resolv.conf";
  EXPECT_THAT(output("cat /etc/resolv.conf"), HasSubstr("nameserver 127.0.0.1\n"));
  EXPECT_THAT(output("rm -f /etc/resolv.conf; echo x > /etc/resolv.conf; echo end"),
              HasSubstr("end"));
  EXPECT_THAT(output("cat /etc/resolv.conf"), HasSubstr("nameserver 127.0.0.1\n"));
}

TEST_F(CompartmentTest, TerminalsAreItsOwn) {
  served_ = {"/dev/null", "/dev/ptmx", "/dev/pts"};
  EXPECT_THAT(output("ls /dev/pts"), "ptmx\n");
  EXPECT_THAT(output("script -qec 'tty' /dev/null </dev/null 2>&1 | tr -d '\\r'"),
              HasSubstr("/dev/pts/0"));
}

TEST_F(CompartmentTest, PrivateTmpHoldsOnlyWhatIsGranted) {
  PolicyInputs inputs = everything();
  inputs.manifest.files.read = {entry("/usr"), entry("/lib"),  entry("/lib64"),
                                entry("/bin"), entry("/proc"), entry(folder_)};
  inputs.manifest.files.write = {entry(folder_)};
  inputs.scratch = {"/tmp", "/dev/shm"};
  served_ = {"/tmp"};  // something is bound in it
  const std::string other = folder_for_test();
  const std::string name = other.substr(5);
  const std::string text =
      output("ls /tmp; echo mine > /tmp/scratch && cat /tmp/scratch; stat -c %a /tmp; ls -d /tmp/" +
                 name + " && echo SEEN; touch /dev/shm/x && ls /dev/shm",
             inputs);
  EXPECT_THAT(text, HasSubstr(folder_.substr(5) + "\nmine\n1777\n"));
  EXPECT_THAT(text, Not(HasSubstr("SEEN")));
  EXPECT_THAT(text, HasSubstr("\nx\n"));
  EXPECT_NE(::access("/tmp/scratch", F_OK), 0);
  EXPECT_NE(::access("/dev/shm/x", F_OK), 0);
  std::filesystem::remove_all(other);
}

TEST_F(CompartmentTest, LandlockHoldsWhatTheListenerLetsPass) {
  PolicyInputs inputs = everything();
  const std::string closed = folder_for_test();
  inputs.manifest.files.read = {entry("/usr"), entry("/lib"), entry("/lib64"), entry("/bin"),
                                entry(folder_)};
  inputs.manifest.files.write = {entry(folder_)};
  ASSERT_EQ(::system(("echo secret > " + closed + "/key; echo open > " + folder_ + "/mine; ln -s " +
                      closed + "/key " + folder_ + "/link")
                         .c_str()),
            0);
  const std::string text = output(
      fmt::format("cat {0}/mine; cat {1}/key; cat {0}/link; cat /etc/passwd; : > {1}/made && "
                  "echo MADE; ls {1} && echo LISTED; mv {0}/mine {1}/ && echo MOVED; ln "
                  "{1}/key {0}/hard && echo LINKED",
                  folder_, closed),
      inputs);
  EXPECT_THAT(text, testing::StartsWith("open\n"));
  for (const char* word : {"secret", "root:", "MADE", "LISTED", "MOVED", "LINKED"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
  std::filesystem::remove_all(closed);
}

TEST_F(CompartmentTest, ForbiddenProgramsDoNotRunWhereOtherwiseDenies) {
  PolicyInputs inputs = everything();
  inputs.manifest.run = {entry("/usr/bin/true")};
  EXPECT_THAT(output("/usr/bin/true && echo ran; /usr/bin/id && echo RAN; cp /usr/bin/id " +
                         folder_ + "/id && " + folder_ + "/id && echo RAN",
                     inputs),
              testing::AllOf(HasSubstr("ran"), Not(HasSubstr("RAN")), Not(HasSubstr("uid="))));
}

TEST_F(CompartmentTest, HiddenPathsAreEmpty) {
  // Landlock would refuse these on its own; the mounts must hold without it.
  enforcement_ = Enforcement::kAuditOnly;
  PolicyInputs inputs = everything();
  ASSERT_EQ(::system(("mkdir " + folder_ + "/dir; echo secret > " + folder_ +
                      "/dir/key; echo secret > " + folder_ + "/file")
                         .c_str()),
            0);
  inputs.manifest.files.hide = {entry(folder_ + "/dir"), entry(folder_ + "/file")};
  const std::string text = output(fmt::format("ls {0}/dir; cat {0}/file; echo x > {0}/dir/y; echo "
                                              "x > {0}/file; umount {0}/dir; echo end",
                                              folder_),
                                  inputs);
  EXPECT_THAT(text,
              testing::AllOf(Not(HasSubstr("secret")), Not(HasSubstr("key")), HasSubstr("end")));
}

TEST_F(CompartmentTest, ResourceLimits) {
  PolicyInputs inputs = everything();
  inputs.manifest.limits.files = 77;
  EXPECT_EQ(output("ulimit -n; ulimit -c; ulimit -Hn", inputs), "77\n0\n77\n");
}

TEST_F(CompartmentTest, NoCoreReachesTheMachinesCrashHandler) {
  // 0 would not keep it from a program in kernel.core_pattern.
  EXPECT_EQ(output("ulimit -c 0 && grep 'core file' /proc/self/limits | tr -s ' '"),
            "Max core file size 1 1 bytes \n");
}

TEST_F(CompartmentTest, StartsWhereCoreDumpsAreForbidden) {
  const auto pattern = read_file("/proc/sys/kernel/core_pattern", 256);
  ASSERT_TRUE(pattern.ok());
  const bool is_file = !pattern->starts_with('|') && !pattern->starts_with('@');
  const pid_t child = ::fork();  // which nobody can take back
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_CORE, &none) != 0) ::_exit(98);
    const auto made = plan("exit 3");
    auto compartment = made.ok() ? launch(*made) : made.error();
    if (!compartment.ok())
      ::_exit(compartment.error().message.find("core_pattern") == std::string::npos ? 97 : 4);
    int code = 0;
    {
      const Everywhere everywhere(*compartment, served_);
      code = last_event(*compartment).value;
      kill_compartment(*compartment);
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), is_file ? 3 : 4);
}

TEST_F(CompartmentTest, StartsWithFewDescriptors) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{32, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  auto made = plan("exit 3");
  const ProgramEvent event = run(*made);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(event.value, 3);
}

TEST_F(CompartmentTest, SignalMaskAndIgnoredSignalsAreTheCallers) {
  ::signal(SIGHUP, SIG_IGN);
  auto made = plan("grep -E 'SigIgn|SigBlk' /proc/self/status");
  ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);  // the supervisor's own affair
  sigset_t usr1, before;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr1, &before);
  EXPECT_EQ(run(*made, folder_ + "/out").value, 0);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const auto text = read_file(folder_ + "/out", 1000);
  ASSERT_TRUE(text.ok());
  unsigned long long blocked = ~0ull, ignored = 0;
  std::istringstream status(*text);
  std::string first, second;
  ASSERT_TRUE(status >> std::hex >> first >> blocked >> second >> ignored) << *text;
  ASSERT_EQ(first + second, "SigBlk:SigIgn:");
  EXPECT_EQ(blocked, 0u);
  EXPECT_NE(ignored & 1ull << (SIGHUP - 1), 0u);
  EXPECT_EQ(ignored & 1ull << (SIGPIPE - 1), 0u);
}

TEST_F(CompartmentTest, StopsAreReported) {
  auto made = plan("kill -STOP $$; exit 5");
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  auto compartment = launch(*made);
  ASSERT_TRUE(compartment.ok()) << to_string(compartment.error());
  const Everywhere everywhere(*compartment, {});
  ProgramEvent event = next_event(*compartment);
  EXPECT_EQ(event.kind, ProgramEvent::Kind::kStopped);
  EXPECT_EQ(event.value, SIGSTOP);
  ::kill(compartment->program, SIGCONT);
  event = next_event(*compartment);
  EXPECT_EQ(event.kind, ProgramEvent::Kind::kExited);
  EXPECT_EQ(event.value, 5);
  kill_compartment(*compartment);
}

// The first child of a process's first thread; 0 where it has none.
pid_t child_of(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{0}/task/{0}/children", pid), 4096);
  return text.ok() ? static_cast<pid_t>(std::strtol(text->c_str(), nullptr, 10)) : 0;
}

// By Ctrl-Z, or while another run of the job asks.
TEST_F(CompartmentTest, AStopWhileItIsSetUpIsNoFailure) {
  std::atomic<bool> done = false;
  std::thread stopper([&done] {
    for (pid_t stopped = 0; !done;) {
      const pid_t init = child_of(::getpid());
      const pid_t program = init > 0 ? child_of(init) : 0;
      if (program <= 0 || program == stopped) continue;
      stopped = program;
      ::kill(program, SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ::kill(program, SIGCONT);
    }
  });
  for (int round = 0; round < 20; ++round) {
    auto made = plan("exit 5");
    ASSERT_TRUE(made.ok()) << to_string(made.error());
    auto compartment = launch(*made);
    EXPECT_TRUE(compartment.ok()) << to_string(compartment.error());
    if (!compartment.ok()) break;
    const Everywhere everywhere(*compartment, served_);
    EXPECT_EQ(last_event(*compartment).value, 5);
    kill_compartment(*compartment);
  }
  done = true;
  stopper.join();
}

TEST_F(CompartmentTest, OrphansAreReaped) {
  const std::string text = output(
      "i=0; while [ $i -lt 300 ]; do (sleep 0 &) ; i=$((i+1)); done; "
      "while :; do set -- /proc/[0-9]*; [ $# -lt 4 ] && break; done; echo reaped");
  EXPECT_EQ(text, "reaped\n");
}

TEST_F(CompartmentTest, FailureToExecuteIsReported) {
  auto policy = Policy::compile(everything());
  ASSERT_TRUE(policy.ok()) << to_string(policy.error());
  auto made = make_plan(*policy, {folder_ + "/missing"}, {}, "/", {});
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  const ProgramEvent event = run(*made);
  EXPECT_EQ(event.kind, ProgramEvent::Kind::kExecFailed);
  EXPECT_EQ(event.value, ENOENT);
}

TEST_F(CompartmentTest, MissingFolderIsNamed) {
  working_ = folder_ + "/gone";
  auto made = plan("true");
  ASSERT_TRUE(made.ok());
  const auto compartment = launch(*made);
  ASSERT_FALSE(compartment.ok());
  EXPECT_THAT(compartment.error().message, HasSubstr("enter the working folder /tmp/bulkhead"));
  EXPECT_EQ(compartment.error().errno_value, ENOENT);
}

TEST_F(CompartmentTest, EndsWithItsSupervisor) {
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    auto made = plan("sleep 1000 & sleep 1000 & exec sleep 1000");
    auto compartment = launch(*made);
    if (!compartment.ok()) ::_exit(1);
    const pid_t init = compartment->init;
    [[maybe_unused]] const ssize_t n = ::write(report[1], &init, sizeof init);
    const Everywhere everywhere(*compartment, served_);
    ::pause();
    ::_exit(0);
  }
  pid_t init = 0;
  ASSERT_EQ(::read(report[0], &init, sizeof init), static_cast<ssize_t>(sizeof init));
  ASSERT_EQ(::kill(init, 0), 0);
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, init, 0)));
  ASSERT_TRUE(pidfd);
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
  pollfd gone{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 10000), 1);
  ::close(report[0]);
  ::close(report[1]);
}

TEST_F(CompartmentTest, OrdinaryUserToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  char self[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
  if (::system(fmt::format("setpriv --reuid=1000 --regid=1000 --clear-groups test -x {}", self)
                   .c_str()) != 0) {
    GTEST_SKIP() << "needs readable-build";
  }
  const int status = ::system(
      fmt::format("exec setpriv --reuid=1000 --regid=1000 --clear-groups {} "
                  "--gtest_filter='CompartmentTest.*-*OrdinaryUserToo' --gtest_brief=1 >&2",
                  self)
          .c_str());
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace bulkhead
