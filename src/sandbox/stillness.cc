#include "sandbox/stillness.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "sandbox/process_stat.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

}  // namespace

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

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : numbers_in("/proc"))
    if (const auto stat = stat_of(folder_of(pid))) children.emplace(stat->parent, pid);
  std::vector<pid_t> found;
  std::set<pid_t> known = {ancestor};  // not read at one moment: there could be a circle
  for (size_t next = 0; next <= found.size(); ++next) {
    const auto [begin, end] = children.equal_range(next == 0 ? ancestor : found[next - 1]);
    for (auto child = begin; child != end; ++child)
      if (known.insert(child->second).second) found.push_back(child->second);
  }
  return found;
}

// In passes, until two find nobody awake: whoever is awake can start others and continue them, and
// one whose parent ended while a pass read /proc is only found by the next.
bool Stillness::reach(std::chrono::milliseconds patience, const std::atomic<bool>& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (int quiet = 0; !cancelled && std::chrono::steady_clock::now() < deadline;) {
    quiet = holds(0) ? quiet + 1 : 0;
    if (quiet == 2) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Parents first, so that nobody sees a child stop, as a shell of the program's or the compartment's
// first process would, and takes it for somebody's wish. Each thread gets a signal of its own. The
// one that a process gets wakes one thread, and that may be one whose call the supervisor serves:
// nothing but a deadly signal wakes it, and what wakes it in the end must find it stopped.
bool Stillness::holds(pid_t spared) {
  bool still = true;
  for (const pid_t pid : who_()) {
    if (pid == spared) continue;
    const std::string tasks = folder_of(pid) + "/task/";
    for (const pid_t thread : numbers_in(tasks)) {
      const char state = stat_of(tasks + std::to_string(thread)).value_or(ProcessStat{}).state;
      const bool awake = state == 'R' || state == 'S';
      if (!awake && (state != 'D' || told_.contains(thread))) continue;
      if (syscall(SYS_tgkill, pid, thread, SIGSTOP) != 0) continue;  // gone, or another user's
      told_.insert(thread);
      if (std::find(stopped_.begin(), stopped_.end(), pid) == stopped_.end())
        stopped_.push_back(pid);
      still = false;
    }
  }
  return still;
}

Stillness::~Stillness() {
  // A number can be somebody else's by now.
  const std::vector<pid_t> now = stopped_.empty() ? std::vector<pid_t>() : who_();
  for (auto pid = stopped_.rbegin(); pid != stopped_.rend(); ++pid)
    if (std::find(now.begin(), now.end(), *pid) != now.end()) kill(*pid, SIGCONT);
}

}  // namespace bulkhead
