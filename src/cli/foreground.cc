#include "cli/foreground.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;

// Parent and group of a process, by /proc/PID/stat (proc(5)); zeros for one that has gone.
struct Kin {
  pid_t parent = 0;
  pid_t group = 0;
};

Kin kin_of(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!text.ok()) return {};
  // The name may hold anything: the fields begin behind its last bracket, with the state.
  const size_t end = text->rfind(')');
  if (end == std::string::npos || end + 4 >= text->size()) return {};
  char* rest = nullptr;
  const long parent = std::strtol(text->c_str() + end + 4, &rest, 10);
  return {.parent = static_cast<pid_t>(parent),
          .group = static_cast<pid_t>(std::strtol(rest, nullptr, 10))};
}

// What /proc/PID/task/TID/status tells about a signal.
class TaskStatus {
 public:
  explicit TaskStatus(std::string text) : text_(std::move(text)) {}

  // 'R' running or ready to run, 'S' asleep, 'T' stopped, …
  char state() const {
    const char* value = find("\nState:\t");
    return value != nullptr ? *value : '\0';
  }
  // `field` is one of the masks: "\nSigPnd:\t" and the like.
  bool has(const char* field, int signal) const {
    const char* value = find(field);
    return value != nullptr &&
           (std::strtoull(value, nullptr, 16) >> static_cast<unsigned>(signal - 1) & 1U) != 0;
  }

 private:
  const char* find(const char* field) const {
    const size_t at = text_.find(field);
    return at != std::string::npos ? text_.c_str() + at + std::strlen(field) : nullptr;
  }
  std::string text_;
};

// Names of the numbers in a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename();
    char* rest = nullptr;
    const long number = std::strtol(name.c_str(), &rest, 10);
    if (number > 0 && *rest == '\0') found.push_back(static_cast<pid_t>(number));
  }
  return found;
}

// True while a thread of `pid` may take a line: it has a signal to see yet. `first`: each gets one
// of its own. The one that the process got wakes one thread, and that may be the thread that waits
// for the answer, which nothing but a deadly signal wakes: the state 'D'.
bool may_read(pid_t pid, bool first) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  bool may = false;
  for (const pid_t thread : numbers_in(tasks)) {
    auto text = read_file(tasks + std::to_string(thread) + "/status", 16384);
    if (!text.ok()) continue;  // it has gone
    const TaskStatus status(std::move(*text));
    const char state = status.state();
    if ((state != 'R' && state != 'S') || status.has("\nSigIgn:\t", SIGTTIN) ||
        status.has("\nSigBlk:\t", SIGTTIN) || status.has("\nSigCgt:\t", SIGTTIN))
      continue;
    if (first) syscall(SYS_tgkill, pid, thread, SIGTTIN);
    if (first || status.has("\nSigPnd:\t", SIGTTIN)) may = true;
  }
  return may;
}

// The processes below our children: not the compartment's first process, which only tells us how
// the program is, and not the child that asks.
std::vector<pid_t> program_processes() {
  std::map<pid_t, pid_t> parents;
  for (const pid_t pid : numbers_in("/proc")) parents[pid] = kin_of(pid).parent;
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parents) {
    // Not read at one moment: numbers given anew could make a circle.
    pid_t above = parent == getpid() ? 0 : parent;
    for (size_t steps = 0; above > 1 && above != getpid() && steps < parents.size(); ++steps) {
      const auto next = parents.find(above);
      above = next != parents.end() ? next->second : 0;
    }
    if (above == getpid()) found.push_back(pid);
  }
  return found;
}

// What the threads of a process are at.
struct Activity {
  bool stopped = true;  // all of them, or dead
  bool awake = false;   // one at least can run before it sees a signal
};

Activity activity_of(pid_t pid) {
  Activity found;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  for (const pid_t thread : numbers_in(tasks)) {
    auto text = read_file(tasks + std::to_string(thread) + "/status", 16384);
    if (!text.ok()) continue;  // it has gone
    const char state = TaskStatus(std::move(*text)).state();
    if (state == 'R' || state == 'S') found.awake = true;
    if (state != 'T' && state != 'Z' && state != 'X') found.stopped = false;
  }
  return found;
}

}  // namespace

bool is_ours(pid_t group) {
  if (group == getpgrp()) return true;
  for (pid_t pid = group; pid > 1; pid = kin_of(pid).parent)
    if (pid == getpid()) return true;
  return false;
}

void stop_readers(pid_t group, std::chrono::milliseconds patience,
                  const std::atomic<bool>& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  kill(-group, SIGTTIN);
  std::vector<pid_t> moving;
  for (const pid_t pid : numbers_in("/proc"))
    if (kin_of(pid).group == group) moving.push_back(pid);
  for (bool first = true; !cancelled; first = false) {
    std::erase_if(moving, [first](pid_t pid) { return !may_read(pid, first); });
    if (moving.empty() || std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// In passes, until one finds nobody awake: whoever is awake can start others and continue them.
Stillness::Stillness(std::chrono::milliseconds patience, const std::atomic<bool>& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool moving = true; moving && !cancelled;) {
    moving = false;
    for (const pid_t pid : program_processes()) {
      const Activity activity = activity_of(pid);
      const bool known = std::find(stopped_.begin(), stopped_.end(), pid) != stopped_.end();
      if (activity.stopped || (known && !activity.awake)) continue;
      if (kill(pid, SIGSTOP) != 0) continue;  // it has gone
      if (!known) stopped_.push_back(pid);
      moving = true;
    }
    if (std::chrono::steady_clock::now() >= deadline) return;
    if (moving) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Children before their parents, which could take them for stopped by somebody's wish.
Stillness::~Stillness() {
  std::sort(stopped_.rbegin(), stopped_.rend());
  for (const pid_t pid : stopped_) kill(pid, SIGCONT);
}

bool interrupt_pending(pid_t pid) {
  auto text = read_file("/proc/" + std::to_string(pid) + "/status", 16384);
  if (!text.ok()) return false;
  const TaskStatus status(std::move(*text));
  return status.has("\nSigPnd:\t", SIGINT) || status.has("\nShdPnd:\t", SIGINT);
}

}  // namespace bulkhead
