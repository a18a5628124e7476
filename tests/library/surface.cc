// Each function of the header once, each kind of outcome, and errors.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "host.h"

namespace {

using namespace std::chrono_literals;
using bulkhead::Compartment;
using bulkhead::Options;
using bulkhead::Outcome;
using host::expect;
using host::must;
using host::shell;
using Clock = std::chrono::steady_clock;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { expect(::pipe2(ends, O_CLOEXEC) == 0, "a pipe"); }
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  // All that comes, once nobody else has the other end.
  std::string read() {
    close(1);
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(n));
    return text;
  }
};

void expect_how(const Outcome& outcome, Outcome::How how, int code, const std::string& what) {
  expect(outcome.how == how && outcome.code == code,
         what + ": " + outcome.text + " (" + std::to_string(outcome.code) + ")");
}

// Waits until the program has said something.
void await(Pipe& pipe) {
  char byte = 0;
  expect(::read(pipe.ends[0], &byte, 1) == 1, "the program says that it is there");
}

void outcomes(const bulkhead::Policy& policy) {
  auto exits = must(Compartment::start(policy, shell("exit 7")), "start");
  expect_how(exits.wait(), Outcome::How::kExited, 7, "an exit");
  expect(exits.outcome() != nullptr, "an outcome stays");
  expect(exits.signal(SIGTERM).ok() == false, "who has ended gets no signal");
  expect(exits.usage().ok() == false, "nor uses anything");

  auto signaled = must(Compartment::start(policy, shell("kill -KILL $$")), "start");
  expect_how(signaled.wait(), Outcome::How::kSignaled, 128 + SIGKILL, "a signal");
  expect(signaled.wait().signal == SIGKILL, "its number");

  Options none = shell("");
  none.command = {"/usr/bin/no-such-program"};
  auto missing = Compartment::start(policy, none);
  expect(missing.ok() ? missing->wait().how == Outcome::How::kCannotRun
                      : missing.error().errno_value == ENOENT,
         "a program that is not there");

  Options cut = shell("");
  cut.environment = {std::string("NAME=one\0two", 12)};
  const auto with_nul = Compartment::start(policy, cut);
  expect(!with_nul.ok() && with_nul.error().errno_value == EINVAL &&
             with_nul.error().message.find("Options::environment") != std::string::npos,
         "what a program would get only half of");

  Options limited = shell("sleep 1000");
  limited.limits.wall_time = 200ms;
  auto late = must(Compartment::start(policy, limited), "start");
  expect_how(late.wait(), Outcome::How::kLimit, 124, "wall time");

  auto killed = must(Compartment::start(policy, shell("sleep 1000")), "start");
  expect(killed.outcome() == nullptr, "it lives");
  expect(killed.wait_until(Clock::now() + 50ms) == nullptr, "the deadline comes first");
  killed.kill();
  expect_how(killed.wait(), Outcome::How::kKilled, 128 + SIGKILL, "kill()");
}

void descriptors(const bulkhead::Policy& policy) {
  Pipe out, in;
  Options options = shell("cat <&9 >&7; readlink /proc/self/fd/0; ls /proc/self/fd | wc -l");
  options.descriptors = {{9, in.ends[0]}, {7, out.ends[1]}, {200, out.ends[1]}, {1, out.ends[1]}};
  auto compartment = must(Compartment::start(policy, options), "start");
  in.close(0);
  expect(::write(in.ends[1], "through\n", 8) == 8, "a pipe takes a line");
  in.close(1);
  // 0, 1, 2, 7, 9, 200 and the folder that ls reads.
  const std::string said = out.read();
  expect(said == "through\n/dev/null\n7\n", "any descriptor by any number, and no other: " + said);
  expect(compartment.wait().code == 0, "it ends well");

  Options wrong = shell("");
  wrong.descriptors = {{5, 987654}};
  const auto refused = Compartment::start(policy, wrong);
  expect(!refused.ok() && refused.error().errno_value == EBADF &&
             refused.error().message.find("987654") != std::string::npos,
         "a closed descriptor is named");
  const int datagrams = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  wrong.descriptors = {{5, datagrams}};
  expect(!Compartment::start(policy, wrong).ok(), "no datagram socket");
  ::close(datagrams);
}

class Asked final : public bulkhead::Judge {
 public:
  bool allow(const bulkhead::Access& access) override {
    const std::lock_guard lock(mutex_);
    seen.emplace_back(std::string(access.kind) + " " + std::string(access.resource));
    threads.insert(std::this_thread::get_id());
    return access.resource.ends_with("/yes");
  }
  void refused(const bulkhead::Access& access, std::string_view rule) override {
    const std::lock_guard lock(mutex_);
    no.emplace_back(std::string(access.kind) + " " + std::string(access.resource) + ": " +
                    std::string(rule));
  }
  void stop() override { stopped = true; }

  std::vector<std::string> seen, no;
  std::set<std::thread::id> threads;
  std::atomic<bool> stopped = false;

 private:
  std::mutex mutex_;
};

// What a prepared compartment is, from its beginning on.
void preparing(const bulkhead::Policy& policy) {
  Pipe out, in;
  Options options =
      shell("cat <&9; readlink /proc/self/fd/0 /proc/self/fd/2; ls /proc/self/fd | wc -l");
  auto prepared = must(Compartment::prepare(policy, options, {0, 1, 9, 200}), "prepare");
  const pid_t pid = prepared.pid();
  expect(::kill(pid, 0) == 0, "it is there");
  pollfd silent{out.ends[0], POLLIN, 0};
  // What cannot be given changes nothing.
  for (const std::map<int, int>& wrong : {std::map<int, int>{{5, out.ends[1]}},
                                          {{2, out.ends[1]}},
                                          {{-1, 0}},
                                          {{9, 987654}},
                                          {{9, -1}}}) {
    const auto refused = prepared.start(wrong);
    expect(!refused.ok() && refused.error().errno_value == EBADF, "no such descriptor");
  }
  const int datagrams = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  expect(!prepared.start({{9, datagrams}}).ok(), "no datagram socket");
  ::close(datagrams);
  expect(::poll(&silent, 1, 20) == 0, "nothing of it has run");
  auto compartment = must(prepared.start({{1, out.ends[1]}, {9, in.ends[0]}}), "start");
  expect(compartment.pid() == pid && prepared.pid() == 0, "it is the one that waited");
  const auto again = prepared.start({{1, out.ends[1]}});
  expect(!again.ok() && again.error().errno_value == EALREADY, "once");
  in.close(0);
  expect(::write(in.ends[1], "through\n", 8) == 8, "a pipe takes a line");
  in.close(1);
  // 0, 1, 2, 9 and the folder that ls reads; not 200.
  const std::string said = out.read();
  expect(said == "through\n/dev/null\n/dev/null\n5\n", "what was given, and no more: " + said);
  expect_how(compartment.wait(), Outcome::How::kExited, 0, "it ends well");

  Options both = shell("");
  both.descriptors = {{1, 1}};
  expect(!Compartment::prepare(policy, both, {1}).ok(), "a number has one descriptor");
  expect(!Compartment::prepare(policy, shell(""), {256}).ok(), "no such number");
}

// Wall time counts from the start, and what is granted can be asked for.
void preparing_early(const bulkhead::Policy& policy) {
  Options options = shell("sleep 0.1; exit 6");
  options.limits.wall_time = 600ms;
  options.limits.memory = uint64_t{1} << 30;
  auto early = must(Compartment::prepare(policy, options), "prepare");
  std::this_thread::sleep_for(800ms);
  expect_how(must(early.start(), "start").wait(), Outcome::How::kExited, 6, "an early one");
  options = shell("sleep 1000");
  options.limits.wall_time = 200ms;
  auto late = must(Compartment::prepare(policy, options), "prepare");
  expect_how(must(late.start(), "start").wait(), Outcome::How::kLimit, 124, "wall time");
}

// One that is never used: moved about, destroyed, or killed by somebody.
void preparing_in_vain(const bulkhead::Policy& policy) {
  const auto descriptors = host::names_in("/proc/self/fd");
  const auto mounts = host::read_file("/proc/self/mountinfo");
  const auto judge = std::make_shared<Asked>();
  {
    Options options = shell("exit 0");
    options.limits.memory = uint64_t{1} << 30;
    options.judge = judge;
    auto one = must(Compartment::prepare(policy, options, {0, 1}), "prepare");
    auto other = must(Compartment::prepare(policy, options), "prepare");
    bulkhead::Prepared moved = std::move(one);
    moved = std::move(other);  // ends the first
    expect(host::children() == 1, "one is left");
    auto killed = must(Compartment::prepare(policy, shell("exit 0"), {1}), "prepare");
    ::kill(killed.pid(), SIGKILL);
    // Until the kernel has taken the call back that it waits in.
    while (host::read_file("/proc/" + std::to_string(killed.pid()) + "/syscall").starts_with("59"))
      ::usleep(1000);
    const auto gone = killed.start();
    expect(!gone.ok() && gone.error().errno_value == ESRCH, "killed while it waited");
    expect(killed.start().error().errno_value == EALREADY, "and gone");
  }
  expect(judge->stopped, "the judge is told of the end");
  expect(host::children() == 0, "no process is left");
  expect(host::threads_down_to(host::first_threads).size() == host::first_threads,
         "no thread is left");
  expect(host::names_in("/proc/self/fd") == descriptors, "no descriptor is left");
  expect(host::read_file("/proc/self/mountinfo") == mounts, "no mount is left");
}

// Started by several threads at a time, one of them has it.
void preparing_for_many(const bulkhead::Policy& policy) {
  auto prepared = must(Compartment::prepare(policy, shell("exit 3")), "prepare");
  std::atomic<int> had = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      auto mine = prepared.start();
      if (!mine.ok()) return expect(mine.error().errno_value == EALREADY, mine.error().message);
      ++had;
      expect_how(mine->wait(), Outcome::How::kExited, 3, "the one that has it");
    });
  for (std::thread& thread : threads) thread.join();
  expect(had == 1, "one has it");
}

void waiting(const bulkhead::Policy& policy) {
  Pipe out;
  Options options = shell("trap 'exit 5' USR1; echo; while :; do sleep 0.01; done");
  options.descriptors = {{1, out.ends[1]}};
  auto compartment = must(Compartment::start(policy, options), "start");
  await(out);
  pollfd ended{compartment.descriptor(), POLLIN, 0};
  expect(::poll(&ended, 1, 0) == 0, "not readable while it lives");
  expect(::kill(compartment.pid(), 0) == 0, "its number is a process");
  expect(compartment.signal(SIGUSR1).ok(), "a signal");
  expect(::poll(&ended, 1, 20'000) == 1, "readable at the end");
  expect_how(*compartment.outcome(), Outcome::How::kExited, 5, "a signal's handler");
}

// An object's end in a fork is nothing to the compartment, and comes.
void a_fork_leaves_them_to_its_parent(const bulkhead::Policy& policy) {
  auto compartment = must(Compartment::start(policy, shell("sleep 1000")), "start");
  auto prepared = must(Compartment::prepare(policy, shell("exit 3")), "prepare");
  const pid_t fork = ::fork();
  if (fork == 0) {
    {
      const Compartment one = std::move(compartment);
      const bulkhead::Prepared other = std::move(prepared);
    }
    ::_exit(0);
  }
  int status = -1;
  const auto end = Clock::now() + 30s;
  while (::waitpid(fork, &status, WNOHANG) == 0) {
    if (Clock::now() > end) ::kill(fork, SIGKILL);
    ::usleep(1000);
  }
  expect(status == 0, "objects end in a fork");
  expect(compartment.outcome() == nullptr, "and what they stand for lives");
  expect_how(must(prepared.start(), "start").wait(), Outcome::How::kExited, 3, "waits still");
}

void usage(const bulkhead::Policy& policy) {
  Pipe out;
  Options options = shell("sleep 1000 & echo; wait");
  options.descriptors = {{1, out.ends[1]}};
  options.limits.memory = uint64_t{1} << 30;
  options.limits.processes = 50;
  auto compartment = must(Compartment::start(policy, options), "start");
  await(out);
  const bulkhead::Usage used = must(compartment.usage(), "usage");
  expect(used.processes == 2 && used.memory > 100'000, "two processes with memory");
  bulkhead::Limits none;
  none.written = 1;
  const auto refused = compartment.set_limits(none);
  expect(!refused.ok() && refused.error().message.find("written") != std::string::npos,
         "what was not limited cannot be");
  none.written.reset();
  none.memory = 0;
  expect(!compartment.set_limits(none).ok(), "no memory is no limit");
  bulkhead::Limits less;
  less.memory = 300'000;
  if (const auto lower = compartment.set_limits(less); !lower.ok())
    host::fail("a lower limit: " + lower.error().message);
  // A cgroup does not go below what is used; then what is sampled does.
  if (const Outcome* outcome = compartment.wait_until(Clock::now() + 10s); outcome != nullptr)
    expect_how(*outcome, Outcome::How::kLimit, 120, "memory");
}

void judging() {
  const auto policy = host::shell_policy(R"(, "otherwise": "ask")");
  char folder[] = "/var/tmp/library-XXXXXX";
  expect(::mkdtemp(folder) != nullptr, "a folder");
  const std::string yes = std::string(folder) + "/yes", no = std::string(folder) + "/no";
  for (const std::string& file : {yes, no}) std::ofstream(file) << "x\n";
  const auto judge = std::make_shared<Asked>();
  Options options = shell("read a < " + yes + " || exit 1; read a < " + no + " && exit 2; exit 0");
  options.judge = judge;
  auto compartment = must(Compartment::start(policy, options), "start");
  expect(compartment.wait().code == 0, "as the host decides: " + compartment.wait().text);
  const auto has = [](const std::vector<std::string>& list, const std::string& text) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& one) { return one.starts_with(text); });
  };
  expect(has(judge->seen, "read " + yes) && has(judge->no, "read " + no),
         "the host is asked, and told");
  expect(!judge->threads.contains(std::this_thread::get_id()), "by threads of the compartment");
  expect(judge->stopped, "and told of the end");
  for (const std::string& file : {yes, no}) ::unlink(file.c_str());
  ::rmdir(folder);
}

// Asks for what its compartment uses, which ends at that moment.
class Asking final : public bulkhead::Judge {
 public:
  bool allow(const bulkhead::Access& /*access*/) override {
    asked = true;
    while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    static_cast<void>(its->usage());
    return false;
  }
  void stop() override { stopped = true; }

  std::atomic<bool> asked = false, stopped = false;
  Compartment* its = nullptr;
};

void judging_its_own_end() {
  const auto policy = host::shell_policy(R"(, "otherwise": "ask")");
  const auto judge = std::make_shared<Asking>();
  char file[] = "/var/tmp/library-XXXXXX";
  const int made = ::mkstemp(file);
  expect(made >= 0, "a file");
  ::close(made);
  Options options = shell("sleep 0.2; read a < " + std::string(file));
  options.judge = judge;
  auto compartment = must(Compartment::start(policy, options), "start");
  judge->its = &compartment;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!judge->asked && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  expect(judge->asked, "the host is asked");
  compartment.kill();
  expect(compartment.wait_until(deadline) != nullptr,
         "a judge that asks keeps nothing from its end");
  ::unlink(file);
}

void errors(const bulkhead::Policy& policy) {
  const auto broken =
      bulkhead::Policy::parse("{\"manifest\": 1,\n \"flies\": {}}", {}, "mine.json");
  expect(!broken.ok() && broken.error().message.find("mine.json:2") != std::string::npos,
         "a manifest's mistake has its place");
  expect(!bulkhead::Policy::load("/nonexistent/manifest.json").ok(), "no file");
  const auto home = bulkhead::Policy::parse(R"({"manifest": 1, "files": {"private": true}})");
  expect(!home.ok() && home.error().errno_value == ENOTSUP, "no private home");
  Options options = shell("");
  options.command = {"sh"};
  expect(!Compartment::start(policy, options).ok(), "a program without a path");
  options.command = {};
  expect(!Compartment::start(policy, options).ok(), "no program");
  options = shell("");
  options.folder = "here";
  expect(!Compartment::start(policy, options).ok(), "a folder that is no path");
  options = shell("");
  options.limits.memory = 0;
  expect(!Compartment::start(policy, options).ok(), "a limit of nothing");
  options = shell("");
  options.limits.wall_time = std::chrono::milliseconds::max();
  expect(!Compartment::start(policy, options).ok(), "a time that no clock holds");
  options = shell("");
  options.limits.cpu = std::numeric_limits<double>::infinity();
  expect(!Compartment::start(policy, options).ok(), "cores without end");
  rlimit usual{};
  expect(::getrlimit(RLIMIT_NOFILE, &usual) == 0, "limits");
  const rlimit few{host::names_in("/proc/self/fd").size() + 3, usual.rlim_max};
  expect(::setrlimit(RLIMIT_NOFILE, &few) == 0, "few descriptors");
  const auto short_of = Compartment::start(policy, shell(""));
  ::setrlimit(RLIMIT_NOFILE, &usual);
  expect(!short_of.ok() && short_of.error().errno_value == EMFILE &&
             short_of.error().message.find("RLIMIT_NOFILE") != std::string::npos,
         "what to do where descriptors are used up");
  // The program that the host names starts; of its libraries a policy that grants nothing has none.
  const auto nothing = must(bulkhead::Policy::parse(R"({"manifest": 1})"), "an empty manifest");
  auto compartment = must(Compartment::start(nothing, shell("exit 0")), "start");
  expect_how(compartment.wait(), Outcome::How::kExited, 127, "not granted");
}

}  // namespace

int main() {
  const auto before = host::names_in("/proc/self/fd");
  {
    const auto policy = host::shell_policy();
    outcomes(policy);
    descriptors(policy);
    waiting(policy);
    a_fork_leaves_them_to_its_parent(policy);
    usage(policy);
    judging();
    judging_its_own_end();
    errors(policy);
    preparing(policy);
    preparing_early(policy);
    preparing_in_vain(policy);
    preparing_for_many(policy);
    // An object's end is its compartment's.
    const auto lives = must(Compartment::start(policy, shell("sleep 1000")), "start");
  }
  expect(host::children() == 0, "no process is left");
  expect(host::threads_down_to(host::first_threads).size() == host::first_threads,
         "no thread is left");
  // The program of init stays open, once for all compartments.
  expect(host::names_in("/proc/self/fd").size() <= before.size() + 1, "no descriptor is left");
  host::say("surface: all well");
  return 0;
}
