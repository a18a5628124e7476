#include "sandbox/kernel/processes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "sandbox/kernel/foreign_thread.h"
#include "sandbox/kernel/process_stat.h"

namespace bulkhead {

namespace {

constexpr auto kFresh = std::chrono::seconds(1);
constexpr size_t kMostKnown = 65536;

// The line's text after "Name:\t", without the newline; empty where there is no such line.
std::string_view line_of(std::string_view text, std::string_view name) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(at, end - at);
    if (line.size() > name.size() && line.substr(0, name.size()) == name &&
        line[name.size()] == ':') {
      size_t from = name.size() + 1;
      while (from < line.size() && (line[from] == '\t' || line[from] == ' ')) ++from;
      return line.substr(from);
    }
    at = end + 1;
  }
  return {};
}

// The numbers of a line, separated by blanks.
std::vector<uint64_t> numbers_of(std::string_view line, int base = 10) {
  std::vector<uint64_t> result;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at < end) {
    if (*at == '\t' || *at == ' ') {
      ++at;
      continue;
    }
    uint64_t value = 0;
    const auto parsed = std::from_chars(at, end, value, base);
    if (parsed.ec != std::errc()) break;
    result.push_back(value);
    at = parsed.ptr;
  }
  return result;
}

constexpr std::chrono::milliseconds kBetweenCounts{100};

// A process in 65,536 groups has a status of more than one page.
std::optional<std::string> read_to_end(int file) {
  std::string text;
  char buffer[8192];
  for (;;) {
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

struct ProcPath {
  char text[64];
  ProcPath(pid_t tid, const char* name) {
    std::snprintf(text, sizeof text, "/proc/%d/%s", tid, name);
  }
};

}  // namespace

std::optional<ThreadStatus> parse_thread_status(std::string_view text) {
  const auto process = numbers_of(line_of(text, "Tgid"));
  const auto inner_process = numbers_of(line_of(text, "NStgid"));
  const auto inner_thread = numbers_of(line_of(text, "NSpid"));
  const auto mask = numbers_of(line_of(text, "Umask"), 8);
  const auto user = numbers_of(line_of(text, "Uid"));
  const auto group = numbers_of(line_of(text, "Gid"));
  const auto capabilities = numbers_of(line_of(text, "CapEff"), 16);
  if (process.size() != 1 || inner_process.empty() || inner_thread.empty() || mask.size() != 1 ||
      user.size() != 4 || group.size() != 4 || capabilities.size() != 1)
    return std::nullopt;
  ThreadStatus status;
  status.process = static_cast<pid_t>(process[0]);
  status.inner_process = static_cast<pid_t>(inner_process.back());
  status.inner_thread = static_cast<pid_t>(inner_thread.back());
  status.umask = static_cast<mode_t>(mask[0]);
  status.user = static_cast<uid_t>(user[1]);
  status.group = static_cast<gid_t>(group[1]);
  status.file_user = static_cast<uid_t>(user[3]);
  status.file_group = static_cast<gid_t>(group[3]);
  status.capabilities = capabilities[0];
  for (const uint64_t one : numbers_of(line_of(text, "Groups")))
    status.groups.push_back(static_cast<gid_t>(one));
  return status;
}

std::optional<ThreadStatus> Processes::status(pid_t tid) const {
  const Fd file(::open(ProcPath(tid, "status").text, O_RDONLY | O_CLOEXEC));
  const auto text = file ? read_to_end(file.get()) : std::nullopt;
  return text ? parse_thread_status(*text) : std::nullopt;
}

Processes::Who Processes::who(pid_t tid) {
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(tid);
    if (found != known_.end() && now - found->second.when < kFresh) return found->second.who;
  }
  const auto read = status(tid);
  const pid_t process = read ? read->process : tid;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  Known& known = known_[tid];
  if (known.who.process != process) known.who = {process, execs_.load()};
  known.when = now;
  return known.who;
}

void Processes::note_exec(pid_t tid) {
  const std::lock_guard lock(mutex_);
  ++execs_;
  known_.erase(tid);
}

std::string Processes::program(pid_t tid) {
  char target[4096];
  const ssize_t n = ::readlink(ProcPath(tid, "exe").text, target, sizeof target);
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : std::string();
}

std::optional<pid_t> Processes::outer(pid_t tid, pid_t inner) const {
  const Fd space(::open(ProcPath(tid, "ns/pid").text, O_RDONLY | O_CLOEXEC));
  if (!space) return std::nullopt;
  const auto found = numbers_outside(space.get(), {inner}, tid);
  return found.empty() ? std::nullopt : std::optional(found.begin()->second);
}

Result<Fd> Processes::borrow(pid_t tid, int number) const {
  return ThreadDescriptors(tid).copy(number);
}

uint32_t Processes::count() const {
  if (proc_ < 0) return 0;
  const auto all = numbers_in(proc_, ".");
  if (!all) return kUncounted;
  return static_cast<uint32_t>(
      std::count_if(all->begin(), all->end(), [](pid_t pid) { return pid != 1; }));
}

uint32_t Processes::filters() const {
  const auto processes = numbers_in(proc_, ".");
  if (!processes) return kUncounted;
  uint32_t found = 0;
  for (const pid_t process : *processes) {
    const std::string tasks = fmt::format("{}/task", process);
    for (const pid_t thread : numbers_in(proc_, tasks.c_str()).value_or(std::vector<pid_t>())) {
      const Fd file(::openat(proc_, fmt::format("{}/{}/status", tasks, thread).c_str(),
                             O_RDONLY | O_CLOEXEC));
      const auto text = file ? read_to_end(file.get()) : std::nullopt;
      const auto count =
          text ? numbers_of(line_of(*text, "Seccomp_filters")) : std::vector<uint64_t>();
      // One is the compartment's own.
      if (!count.empty() && count[0] > 1) found += static_cast<uint32_t>(count[0]) - 1;
    }
  }
  return found;
}

bool Processes::take_filter() {
  const std::lock_guard lock(mutex_);
  // Who has gone took its own along: looked up only where it matters, and not by each call.
  const auto now = std::chrono::steady_clock::now();
  if (filters_ >= kMostFilters && now - filters_counted_ >= kBetweenCounts) {
    filters_ = filters();
    filters_counted_ = now;
  }
  if (filters_ >= kMostFilters) return false;
  ++filters_;
  return true;
}

std::optional<Processes::Executable> Processes::executable_of(pid_t tid) {
  struct stat about {};
  if (::stat(ProcPath(tid, "exe").text, &about) != 0) return std::nullopt;
  return Executable{about.st_dev, about.st_ino};
}

void Processes::expect(pid_t process, const Executable& old_one, const Executable& new_one) {
  const std::lock_guard lock(mutex_);
  expected_[process] = {old_one, new_one};
  expected_count_.store(static_cast<uint32_t>(expected_.size()), std::memory_order_relaxed);
}

void Processes::forget_expected(pid_t process) {
  const std::lock_guard lock(mutex_);
  expected_.erase(process);
  expected_count_.store(static_cast<uint32_t>(expected_.size()), std::memory_order_relaxed);
}

void Processes::forget_dead() {
  const std::lock_guard lock(mutex_);
  std::erase_if(expected_,
                [](const auto& each) { return ::kill(each.first, 0) != 0 && errno == ESRCH; });
  expected_count_.store(static_cast<uint32_t>(expected_.size()), std::memory_order_relaxed);
}

std::optional<std::string> Processes::unexpected(pid_t tid) {
  // execve makes its caller the leader, so that the thread's number is the process's.
  const std::lock_guard lock(mutex_);
  const auto found = expected_.find(tid);
  if (found == expected_.end()) return std::nullopt;
  const auto now = executable_of(tid);
  const bool started_it = now && *now == found->second.new_one;
  // Still the old one: execve has not happened yet (this is another thread's call) or has failed.
  if (now && !started_it && *now == found->second.old_one) return std::nullopt;
  expected_.erase(found);
  expected_count_.store(static_cast<uint32_t>(expected_.size()), std::memory_order_relaxed);
  if (!now || started_it) return std::nullopt;
  return program(tid);
}

namespace {

// Ticks that a thread spent on a processor; nullopt where it has gone.
std::optional<uint64_t> ticks_of(pid_t tid) {
  const auto stat = stat_of(fmt::format("/proc/{0}/task/{0}", tid));
  return stat ? std::optional(stat->own_ticks) : std::nullopt;
}

// More than any fork needs, with hundreds of gigabytes to copy the tables of: a quarter of a
// second.
uint64_t longest_fork() {
  static const auto ticks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)) / 4;
  return ticks;
}

}  // namespace

// A clock tells nothing: who gets no processor does not fork.
bool Processes::has_left(const Fork& fork) {
  // "running", or the call that it waits in; -1 for none.
  const auto call = read_file(ProcPath(fork.tid, "syscall").text, 256);
  if (call.ok() && !call->starts_with("running")) {
    const long number = std::strtol(call->c_str(), nullptr, 10);
    return number != __NR_clone && number != __NR_fork && number != __NR_vfork;
  }
  const auto ticks = ticks_of(fork.tid);
  return !ticks || *ticks < fork.ticks || *ticks - fork.ticks > longest_fork();
}

uint32_t Processes::forks_under_way(pid_t tid) {
  const std::lock_guard lock(mutex_);
  std::erase_if(forks_, [&](const Fork& fork) { return fork.tid == tid || has_left(fork); });
  return static_cast<uint32_t>(forks_.size());
}

void Processes::note_fork(pid_t tid) {
  const uint64_t ticks = ticks_of(tid).value_or(0);
  const std::lock_guard lock(mutex_);
  forks_.push_back({tid, ticks});
}

}  // namespace bulkhead
