// Compartments of one host share its threads: what an idle one costs, that none keeps another from
// being served, and that all of them end with the host and none before.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "host.h"

namespace {

using namespace std::chrono_literals;
using bulkhead::Compartment;
using bulkhead::Options;
using host::expect;
using host::must;
using Clock = std::chrono::steady_clock;

// A folder whose files the supervisor decides on: it is granted by a pattern, and not as a whole.
class Folder {
 public:
  Folder() { expect(::mkdtemp(path_.data()) != nullptr, "a folder"); }
  ~Folder() { (void)!std::system(("rm -rf " + path()).c_str()); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.data(); }
  bulkhead::Policy policy() const {
    return must(bulkhead::Policy::parse(R"({"manifest": 1, "files": {"read": ["@system", ")" +
                                        path() + R"(/*"], "write": [")" + path() +
                                        R"(/*"]}, "run": ["/usr/bin", "/bin"]})"),
                "a policy");
  }

 private:
  std::array<char, 64> path_{"/var/tmp/sharing-XXXXXX"};
};

// One that does what it is told by a pipe, a line at a time, and says when it is done.
class Told {
 public:
  Told(const bulkhead::Policy& policy, const std::string& each) {
    int in[2], out[2];
    expect(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0, "pipes");
    Options options = host::shell("while read line; do " + each + "; echo; done");
    options.descriptors = {{0, in[0]}, {1, out[1]}};
    compartment_ =
        std::make_unique<Compartment>(must(Compartment::start(policy, options), "start"));
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Told() {
    ::close(in_);
    ::close(out_);
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  void tell() const { expect(::write(in_, "x\n", 2) == 2, "it is told"); }
  bool is_done(std::chrono::milliseconds patience) const {
    pollfd said{out_, POLLIN, 0};
    char byte = 0;
    return ::poll(&said, 1, static_cast<int>(patience.count())) == 1 && ::read(out_, &byte, 1) == 1;
  }
  const Compartment& compartment() const { return *compartment_; }

 private:
  std::unique_ptr<Compartment> compartment_;
  int in_ = -1, out_ = -1;
};

size_t threads() { return host::names_in("/proc/self/task").size(); }

bool until(const auto& holds) {
  const auto end = Clock::now() + 30s;
  while (!holds()) {
    if (Clock::now() > end) return false;
    ::usleep(5000);
  }
  return true;
}

uint64_t resident() {
  const std::string text = host::read_file("/proc/self/statm");
  return std::strtoull(text.c_str() + text.find(' '), nullptr, 10) *
         static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The two that serve all of them, whatever their number.
void an_idle_one_has_no_thread() {
  constexpr size_t kMany = 40;
  const auto policy = host::shell_policy();
  const size_t before = threads();
  std::vector<Compartment> all;
  all.push_back(must(Compartment::start(policy, host::shell("sleep 1000")), "start"));
  expect(until([&] { return threads() == before + 2; }), "one: two threads");
  const uint64_t memory = resident();
  const size_t descriptors = host::names_in("/proc/self/fd").size();
  while (all.size() < kMany + 1)
    all.push_back(must(Compartment::start(policy, host::shell("sleep 1000")), "start"));
  expect(until([&] { return threads() == before + 2; }),
         "forty: two threads, not " + std::to_string(threads()));
  const uint64_t each = (resident() - std::min(memory, resident())) / kMany;
  // A sanitizer holds as much again for what it knows of each byte.
  expect(host::kWatched || each < 300'000, "an idle one holds " + std::to_string(each) + " bytes");
  const size_t held = (host::names_in("/proc/self/fd").size() - descriptors) / kMany;
  expect(held <= 20, "and " + std::to_string(held) + " descriptors");
  host::say("sharing: an idle one holds " + std::to_string(each / 1000) + " KB, " +
            std::to_string(held) + " descriptors");
}

// Those that open files as fast as they can, more of them than there are cores.
void a_flood_holds_up_nobody() {
  const Folder folder;
  std::ofstream(folder.path() + "/file") << "x\n";
  const auto policy = folder.policy();
  const std::string file = folder.path() + "/file";
  Told quiet(policy, "for i in 1 2 3 4 5 6 7 8 9 10; do read x < " + file + "; done");
  quiet.tell();
  expect(quiet.is_done(30s), "it is served");
  std::vector<Compartment> flood;
  for (int i = 0; i < 6; ++i)
    flood.push_back(
        must(Compartment::start(policy, host::shell("while :; do read x < " + file + "; done")),
             "start"));
  for (int i = 0; i < 20; ++i) {
    quiet.tell();
    expect(quiet.is_done(10s), "a flood of others' calls holds it up");
    // Now and then after a rest, in which its thread is given back.
    if (i % 5 == 0) std::this_thread::sleep_for(400ms);
  }
}

// Calls that wait for ever, more of them than there are threads for such.
void blocked_calls_leave_the_others_theirs() {
  rlimit before{};
  expect(::getrlimit(RLIMIT_NOFILE, &before) == 0, "limits");
  const rlimit few{1024, before.rlim_max};  // 106 threads
  expect(::setrlimit(RLIMIT_NOFILE, &few) == 0, "few descriptors");
  const Folder folder;
  const std::string path = folder.path();
  expect(::mkfifo((path + "/never").c_str(), 0600) == 0 &&
             ::mkfifo((path + "/now").c_str(), 0600) == 0,
         "FIFOs");
  const auto policy = folder.policy();
  const Told quiet(policy, "(echo y > " + path + "/now) & read x < " + path + "/now; wait");
  quiet.tell();
  expect(quiet.is_done(30s), "it is served");
  const Told greedy(policy, "i=0; while [ $i -lt 250 ]; do (read x < " + path +
                                "/never) & i=$((i+1)); done; sleep 0.5");
  greedy.tell();
  expect(greedy.is_done(60s), "they wait");
  // As many as it gets: more only when others end.
  size_t last = 0;
  expect(until([&] {
           const size_t now = threads();
           std::this_thread::sleep_for(300ms);
           return std::exchange(last, now) == now && now > 50;
         }),
         "their threads wait");
  expect(last < 160, "no more than there may be: " + std::to_string(last));
  for (int i = 0; i < 5; ++i) {
    quiet.tell();
    expect(quiet.is_done(20s), "others' waiting calls keep it from its own");
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// While this lives no thread can be made: the stack that one would get is larger than any address
// space.
class NoNewThreads {
 public:
  NoNewThreads() {
    ::pthread_getattr_default_np(&usual_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, size_t{1} << 60U);
    expect(::pthread_setattr_default_np(&huge) == 0, "no more threads");
  }
  ~NoNewThreads() { ::pthread_setattr_default_np(&usual_); }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t usual_{};
};

// Opens it as soon as somebody waits for that at the other end; -1 where nobody does.
int open_to_write(const std::string& fifo) {
  int fd = -1;
  until([&] { return (fd = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) >= 0; });
  return fd;
}

// One's calls have all threads that there are, for ever: others' are served still, and end.
void without_new_threads_blocked_calls_leave_the_others_theirs() {
  const Folder folder;
  const std::string path = folder.path();
  for (const char* name : {"/never", "/now"})
    expect(::mkfifo((path + name).c_str(), 0600) == 0, "a FIFO");
  const auto policy = folder.policy();
  const size_t before = host::threads_down_to(host::first_threads).size();
  const Told quiet(policy, "read x < " + path + "/now");
  auto ending = must(Compartment::start(policy, host::shell("sleep 1000")), "start");
  const Told greedy(policy,
                    "for i in 1 2 3 4 5 6 7 8 9 10; do (read x < " + path + "/never) & done");
  expect(until([&] { return threads() == before + 2; }), "all rest");
  greedy.tell();
  expect(greedy.is_done(30s) && until([&] { return threads() >= before + 12; }), "they wait");
  const NoNewThreads none;
  greedy.tell();
  expect(greedy.is_done(30s), "ten more");
  for (int i = 0; i < 10; ++i) {
    quiet.tell();
    const int fifo = open_to_write(path + "/now");
    expect(fifo >= 0, "a flood of others' waiting calls keeps it from its own");
    expect(::write(fifo, "x\n", 2) == 2 && ::close(fifo) == 0, "it is written");
    expect(quiet.is_done(20s), "it goes on");
  }
  ending.kill();
  expect(ending.wait_until(Clock::now() + 20s) != nullptr, "or from its end");
}

// A program that takes all processes of its user takes threads from the host, too.
void without_new_threads_it_is_served() {
  const Folder folder;
  std::ofstream(folder.path() + "/file") << "x\n";
  const std::string each =
      "for i in 1 2 3 4 5 6 7 8 9 10; do read x < " + folder.path() + "/file; done";
  const size_t before = threads();
  const Told one(folder.policy(), each), other(folder.policy(), each);
  expect(until([&] { return threads() == before + 2; }), "both rest");
  const NoNewThreads none;
  for (int i = 0; i < 5; ++i) {
    one.tell();
    other.tell();
    expect(one.is_done(20s) && other.is_done(20s), "they are served without threads");
  }
  const auto refused = Compartment::start(folder.policy(), host::shell(""));
  expect(!refused.ok() && refused.error().errno_value == EAGAIN, "a start says that there is none");
}

// Has threads made by ones that have borrowed a caller's identity, if these made any: as soon as
// all wait here, each starts another compartment.
class Starting final : public bulkhead::Judge {
 public:
  explicit Starting(std::string file) : file_(std::move(file)) {}
  bool allow(const bulkhead::Access& access) override {
    if (access.resource != file_) return true;
    ++waiting_;
    if (!until([this] { return waiting_ >= kAll; })) return false;
    auto other = Compartment::start(policy_, host::shell("exit 3"));
    return other.ok() && other->wait().code == 3;
  }
  static constexpr int kAll = 8;

 private:
  const std::string file_;
  const bulkhead::Policy policy_ = host::shell_policy();
  std::atomic<int> waiting_ = 0;
};

// Threads serve any compartment: with what the host is, and not what a caller was.
void no_thread_keeps_a_borrowed_identity() {
  if (::geteuid() != 0) return;
  const Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "x\n";
  Options options = host::shell(
      "exec setpriv --reuid=1234 --regid=2345 --clear-groups sh -c 'i=0; while [ $i -lt " +
      std::to_string(Starting::kAll) + " ]; do cat " + file +
      " >/dev/null || kill -9 $$ & i=$((i+1)); done; wait'");
  options.judge = std::make_shared<Starting>(file);
  const auto policy = host::shell_policy(R"(, "otherwise": "ask")");
  auto compartment = must(Compartment::start(policy, options), "start");
  expect(compartment.wait().code == 0, "all are read: " + compartment.wait().text);
  for (const std::string& thread : host::names_in("/proc/self/task")) {
    const std::string status = host::read_file("/proc/self/task/" + thread + "/status");
    expect(status.empty() || status.find("\nUid:\t0\t0\t0\t0\n") != std::string::npos,
           "a thread is somebody else: " + status);
  }
}

// Its parent is no thread of the host's own.
void the_thread_that_started_it_may_end() {
  const auto policy = host::shell_policy();
  std::unique_ptr<Compartment> compartment;
  std::thread([&] {
    compartment = std::make_unique<Compartment>(
        must(Compartment::start(policy, host::shell("sleep 4; exit 4")), "start"));
  }).join();
  expect(compartment->wait().code == 4, "it goes on: " + compartment->wait().text);
}

bool is_gone(pid_t pid) {
  const std::string stat = host::read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

// Busy, idle or prepared.
void they_end_with_the_host() {
  int ends[2];
  expect(::pipe2(ends, O_CLOEXEC) == 0, "a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto policy = host::shell_policy();
    auto busy =
        must(Compartment::start(policy, host::shell("while :; do /bin/true; done")), "busy");
    auto idle = must(Compartment::start(policy, host::shell("sleep 1000")), "idle");
    auto prepared = must(Compartment::prepare(policy, host::shell("sleep 1000")), "prepare");
    std::this_thread::sleep_for(500ms);
    const pid_t pids[] = {busy.pid(), idle.pid(), prepared.pid()};
    (void)!::write(ends[1], pids, sizeof pids);
    ::pause();
  }
  pid_t pids[3] = {};
  expect(::read(ends[0], pids, sizeof pids) == sizeof pids, "they are there");
  for (const pid_t pid : pids) expect(!is_gone(pid), "it lives");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const pid_t pid : pids)
    expect(until([&] { return is_gone(pid); }), "it has ended with the host");
  ::close(ends[0]);
  ::close(ends[1]);
}

// Says which begins, and how long it took: of one that hangs, the last line is the name.
void stage(const std::string& name, void (*run)()) {
  host::say("sharing: " + name);
  const auto begin = Clock::now();
  run();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  host::say("sharing:   " + std::to_string(took.count()) + " ms");
}

}  // namespace

int main() {
  ::signal(SIGPIPE, SIG_IGN);                               // one that has ended takes no orders
  stage("they end with the host", they_end_with_the_host);  // first: it forks
  const auto before = host::names_in("/proc/self/fd");
  stage("an idle one has no thread", an_idle_one_has_no_thread);
  stage("a flood holds up nobody", a_flood_holds_up_nobody);
  stage("blocked calls leave the others theirs", blocked_calls_leave_the_others_theirs);
  stage("without new threads it is served", without_new_threads_it_is_served);
  stage("without new threads blocked calls leave the others theirs",
        without_new_threads_blocked_calls_leave_the_others_theirs);
  stage("no thread keeps a borrowed identity", no_thread_keeps_a_borrowed_identity);
  stage("the thread that started it may end", the_thread_that_started_it_may_end);
  expect(host::children() == 0, "no process is left");
  expect(host::threads_down_to(host::first_threads).size() == host::first_threads,
         "no thread is left");
  expect(host::names_in("/proc/self/fd").size() <= before.size() + 1, "no descriptor is left");
  host::say("sharing: all well");
  return 0;
}
