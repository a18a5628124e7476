// Two hundred compartments at a time in one process, of eight threads: started, signalled, limited
// and ended at random. The host has handlers of its own for SIGCHLD, SIGURG and SIGALRM, reaps
// whatever child there is, is a subreaper, and has closed 0 to 2. Afterwards all is as before.
//   lifecycle SECONDS
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "host.h"

namespace {

using namespace std::chrono_literals;
using bulkhead::Compartment;
using bulkhead::Outcome;
using host::expect;
using Clock = std::chrono::steady_clock;

constexpr size_t kThreads = 8, kEach = 25;

std::atomic<uint64_t> urgent_signals, alarms;
std::atomic<uint64_t> started, refused;
std::array<std::atomic<uint64_t>, 6> ended;

// Some wait in the supervisor: a FIFO's other end, a host that nobody answers for.
const char* const kScripts[] = {
    "exit 3",
    "sleep 1000",
    "trap '' TERM; sleep 1000 & wait",
    "mkfifo /tmp/f; cat /tmp/f",
    "mkfifo /tmp/f; (cat /tmp/f; echo) & sleep 0.05; exit 4",
    "(setsid sleep 1000 &) ; sleep 0.1",
    "i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done",
    "dd if=/dev/zero of=/tmp/x bs=4096 count=64 2>/dev/null; sleep 0.2",
};

void act(Compartment& compartment, std::mt19937& random) {
  static constexpr int kSignals[] = {SIGTERM, SIGSTOP, SIGCONT, SIGKILL, SIGINT, SIGUSR1};
  switch (random() % 5) {
    case 0:
      (void)compartment.signal(kSignals[random() % std::size(kSignals)]);
      break;
    case 1:
      compartment.kill();
      break;
    case 2:
      (void)compartment.usage();
      break;
    case 3: {
      bulkhead::Limits limits;
      limits.memory = (uint64_t{64} + random() % 64) << 20;
      (void)compartment.set_limits(limits);
      break;
    }
    default:
      (void)compartment.wait_until(Clock::now() + std::chrono::milliseconds(random() % 20));
  }
}

// Now, or prepared before, or prepared and never used.
bulkhead::Result<Compartment> begin(const bulkhead::Policy& policy,
                                    const bulkhead::Options& options, std::mt19937& random) {
  if (random() % 2 == 0) return Compartment::start(policy, options);
  auto prepared = Compartment::prepare(policy, options, {1});
  if (!prepared.ok()) return prepared.error();
  if (random() % 4 == 0) return bulkhead::Error{"not used", EAGAIN};
  return prepared->start();
}

void live(const bulkhead::Policy& policy, unsigned seed, Clock::time_point end) {
  std::mt19937 random(seed);
  std::deque<Compartment> alive;
  while (Clock::now() < end) {
    if (alive.size() < kEach) {
      auto options = host::shell(kScripts[random() % std::size(kScripts)]);
      if (random() % 2 == 0) options.limits.memory = uint64_t{128} << 20;
      if (random() % 8 == 0)
        options.limits.wall_time = std::chrono::milliseconds(random() % 500 + 1);
      auto next = begin(policy, options, random);
      if (next.ok()) {
        alive.push_back(std::move(*next));
        ++started;
      } else {
        // The machine has no more; nothing else may be the reason.
        const int why = next.error().errno_value;
        expect(why == EAGAIN || why == ENOMEM || why == ENOSPC || why == EMFILE || why == EUSERS,
               next.error().message);
        ++refused;
      }
    }
    for (int i = 0; i < 3 && !alive.empty(); ++i) act(alive[random() % alive.size()], random);
    // Those that have ended, and sometimes one that lives.
    std::erase_if(alive, [&](const Compartment& one) {
      const Outcome* const outcome = one.outcome();
      if (outcome == nullptr) return false;
      expect(outcome->how != Outcome::How::kFailed, outcome->text);
      ++ended[static_cast<size_t>(outcome->how)];
      return true;
    });
    if (!alive.empty() && random() % 4 == 0) alive.pop_front();
  }
}

std::set<std::string> cgroups_of_ours() {
  std::set<std::string> found;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup") == std::string::npos) continue;
    std::string point = line.substr(line.find(" /") + 2);
    point = point.substr(point.find(" /") + 1);
    point = point.substr(0, point.find(' '));
    for (const std::string& name : host::names_in(point))
      if (name.starts_with("bulkhead-") &&
          name.find("-" + std::to_string(::getpid()) + "-") != std::string::npos)
        found.insert(point + "/" + name);
  }
  return found;
}

uint64_t resident() {
  const std::string text = host::read_file("/proc/self/statm");
  return std::strtoull(text.c_str() + text.find(' '), nullptr, 10) *
         static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct Process {
  std::set<std::string> threads, descriptors, cgroups, mounts;
  std::string folder;
  std::array<struct sigaction, 32> handlers{};
  sigset_t mask{};
  rlimit files{};
  mode_t umask = 0;

  static Process now() {
    Process now;
    now.threads = host::names_in("/proc/self/task");
    now.descriptors = host::names_in("/proc/self/fd");
    now.cgroups = cgroups_of_ours();
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) now.mounts.insert(line);
    char folder[4096] = "";
    (void)!::readlink("/proc/self/cwd", folder, sizeof folder - 1);
    now.folder = folder;
    for (int i = 1; i < 32; ++i) ::sigaction(i, nullptr, &now.handlers[static_cast<size_t>(i)]);
    ::sigprocmask(SIG_SETMASK, nullptr, &now.mask);
    ::getrlimit(RLIMIT_NOFILE, &now.files);
    now.umask = ::umask(0);
    ::umask(now.umask);
    return now;
  }
};

std::string target_of(const std::string& fd) {
  char target[256] = "";
  (void)!::readlink(("/proc/self/fd/" + fd).c_str(), target, sizeof target - 1);
  return target;
}

void expect_same(const Process& before, Process after) {
  std::string threads;
  after.threads = host::threads_down_to(before.threads.size());
  for (const std::string& thread : after.threads)
    if (!before.threads.contains(thread))
      threads += " " + host::read_file("/proc/self/task/" + thread + "/wchan");
  expect(after.threads == before.threads, "no thread is left:" + threads);
  std::string more;
  for (const std::string& fd : after.descriptors)
    if (!before.descriptors.contains(fd)) more += " " + fd + " " + target_of(fd);
  expect(after.descriptors == before.descriptors, "no descriptor is left:" + more);
  expect(after.cgroups == before.cgroups, "no cgroup is left");
  for (const std::string& mount : after.mounts)
    expect(before.mounts.contains(mount), "no mount is left: " + mount);
  for (const std::string& mount : before.mounts)
    expect(after.mounts.contains(mount), "no mount is gone: " + mount);
  expect(after.folder == before.folder, "the working folder is as it was");
  expect(after.umask == before.umask, "the umask is as it was");
  expect(after.files.rlim_cur == before.files.rlim_cur, "the limits are as they were");
  for (int i = 1; i < 32; ++i) {
    const auto& one = before.handlers[static_cast<size_t>(i)];
    const auto& other = after.handlers[static_cast<size_t>(i)];
    expect(one.sa_handler == other.sa_handler, "handler " + std::to_string(i) + " is as it was");
    expect(sigismember(&before.mask, i) == sigismember(&after.mask, i), "so is the mask");
  }
}

// A host that opens its standard input and output only later would close whatever of ours stood
// there.
void takes_none_of_0_to_2(const bulkhead::Policy& policy) {
  // The same file again and again, and by a relative name: what is kept of such callers stays.
  bulkhead::Options options = host::shell(
      "cd /usr; i=0; while [ $i -lt 300 ]; do : <lib/os-release; : </etc/passwd; i=$((i+1)); done; "
      "echo; sleep 1000");
  int told[2];
  expect(::pipe2(told, O_CLOEXEC) == 0, "pipe2");
  const int reads = ::fcntl(told[0], F_DUPFD_CLOEXEC, 50);
  const int writes = ::fcntl(told[1], F_DUPFD_CLOEXEC, 50);
  for (const int fd : told) ::close(fd);
  options.descriptors = {{1, writes}};
  options.limits.memory = uint64_t{1} << 30;
  options.limits.wall_time = std::chrono::hours(1);
  options.limits.written = uint64_t{1} << 30;
  const auto lives = host::must(Compartment::start(policy, options), "start");
  ::close(writes);
  char line = 0;
  expect(::read(reads, &line, 1) == 1, "the shell has opened its files");
  ::close(reads);
  // While it is served and measured, files are opened and closed again there; none stays.
  const auto end = Clock::now() + std::chrono::seconds(30);
  for (int fd = 0; fd <= 2; ++fd)
    while (::fcntl(fd, F_GETFD) >= 0) {
      const std::string name = std::to_string(fd);
      expect(Clock::now() < end, "0 to 2 are the host's: " + name + " " + target_of(name));
      ::usleep(1'000);
    }
}

// What others mount meanwhile does not come here, and what a compartment mounted for its host
// would. Only root may ask for that.
void own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) return;
  for (const unsigned long how : {MS_PRIVATE, MS_SHARED})
    expect(::mount(nullptr, "/", nullptr, MS_REC | how, nullptr) == 0, "mounts of its own");
}

void own_handlers() {
  const auto handle = [](int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  };
  handle(SIGCHLD, [](int) {
    const int before = errno;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    errno = before;
  });
  handle(SIGURG, [](int) { ++urgent_signals; });
  handle(SIGALRM, [](int) { ++alarms; });
  const itimerval often{{0, 20'000}, {0, 20'000}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  host::log_fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 50);
  for (int fd = 0; fd <= 2; ++fd) ::close(fd);
  own_handlers();
  own_mounts();
  const auto policy = host::shell_policy();
  {  // what stays open for good, and the threads' own memory
    auto first =
        host::must(Compartment::start(policy, host::shell("readlink /proc/self/fd/0")), "start");
    expect(first.wait().how == Outcome::How::kExited, first.wait().text);
  }
  takes_none_of_0_to_2(policy);
  const Process before = Process::now();
  uint64_t early = 0;
  {
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] { live(policy, i + 1, begin + std::chrono::seconds(seconds)); });
    std::this_thread::sleep_until(begin + std::chrono::seconds(seconds) / 2);
    early = resident();
    for (std::thread& thread : threads) thread.join();
  }
  // Who asked sockets for their memory is waited for by nobody.
  for (int i = 0; i < 500 && host::names_in("/proc/self/task").size() > host::first_threads; ++i)
    ::usleep(10'000);
  expect(host::children() == 0, "no process is left");
  expect_same(before, Process::now());
  expect(urgent_signals == 0, "nobody sent it SIGURG");
  expect(alarms > 0, "its own signals reach it");
  expect(resident() < early + (uint64_t{64} << 20), "memory is flat");
  expect(started > 0, "something ran");
  host::say("lifecycle: " + std::to_string(started) + " compartments, " + std::to_string(refused) +
            " refused; exited " + std::to_string(ended[0]) + ", signalled " +
            std::to_string(ended[1]) + ", limits " + std::to_string(ended[3]) + ", killed " +
            std::to_string(ended[4]) + "; " + std::to_string(resident() >> 20) + " MiB");
  return 0;
}
