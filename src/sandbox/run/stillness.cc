#include "sandbox/run/stillness.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "sandbox/kernel/process_stat.h"

namespace bulkhead {
namespace {

// For who is told to stop and gets no processor; all of a pass together.
constexpr std::chrono::seconds kStopIn{1};

// Of a process or thread; 0 where it has gone.
char state_of(const std::string& folder) { return stat_of(folder).value_or(ProcessStat{}).state; }

// False where no descriptor is left, say: then everybody seems to have gone.
bool can_look() { return stat_of("/proc/self").has_value(); }

bool is_awake(char state) { return state == 'R' || state == 'S'; }

}  // namespace

uint64_t switches_of(const std::string& folder) {
  const auto text = read_file(folder + "/status", 16384);
  if (!text.ok()) return 0;
  uint64_t sum = 0;
  for (const std::string_view field :
       {"\nvoluntary_ctxt_switches:\t", "\nnonvoluntary_ctxt_switches:\t"})
    if (const size_t at = text->find(field); at != std::string::npos)
      sum += std::strtoull(text->c_str() + at + field.size(), nullptr, 10);
  return sum;
}

Generations descendants_of(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : numbers_in("/proc"))
    if (const auto stat = stat_of(folder_of(pid))) children.emplace(stat->parent, pid);
  Generations found;
  std::set<pid_t> known = {ancestor};  // not read at one moment: there could be a circle
  for (std::vector<pid_t> parents = {ancestor}; !parents.empty();) {
    std::vector<pid_t> next;
    for (const pid_t parent : parents) {
      const auto [begin, end] = children.equal_range(parent);
      for (auto child = begin; child != end; ++child)
        if (known.insert(child->second).second) next.push_back(child->second);
    }
    if (!next.empty()) found.push_back(next);
    parents = std::move(next);
  }
  return found;
}

// In passes, until two find nobody awake: whoever is awake can start others and continue them, and
// one whose parent ended while a pass read /proc is only found by the next.
bool Stillness::reach(std::chrono::milliseconds patience, const Cancelled& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (int quiet = 0; !cancelled() && std::chrono::steady_clock::now() < deadline;) {
    quiet = holds(0, cancelled) ? quiet + 1 : 0;
    if (quiet == 2) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// A generation has stopped before the next is told, so that nobody sees a child stop, as a shell of
// the program's or the compartment's first process would, and takes it for somebody's wish: who
// waits for children and is told to stop looks once more for who has stopped.
// Who continues itself, writes, and stops again is asleep whenever one looks: its switches tell.
bool Stillness::holds(pid_t spared, const Cancelled& cancelled) {
  bool still = can_look();
  const auto until = std::chrono::steady_clock::now() + kStopIn;
  const Generations generations = who_();
  for (const std::vector<pid_t>& generation : generations) {
    std::vector<std::string> told;
    for (const pid_t pid : generation) {
      if (cancelled()) return false;
      if (pid != spared) tell(pid, told);
    }
    still = still && told.empty();
    for (const std::string& thread : told)
      while (is_awake(state_of(thread)) && !cancelled() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  for (const std::vector<pid_t>& generation : generations)
    for (const pid_t pid : generation)
      if (pid != spared && (cancelled() || has_run(pid))) still = false;
  return still && can_look();
}

bool Stillness::has_run(pid_t pid) {
  bool ran = false;
  const std::string tasks = folder_of(pid) + "/task/";
  for (const pid_t thread : numbers_in(tasks)) {
    const uint64_t now = switches_of(tasks + std::to_string(thread));
    const auto [known, is_new] = switches_.try_emplace(thread, now);
    ran = ran || is_new || known->second != now;
    known->second = now;
  }
  return ran;
}

// Each thread gets a signal of its own. The one that a process gets wakes one thread, and that may
// be one whose call the supervisor serves: nothing but a deadly signal wakes it, and what wakes it
// in the end must find it stopped.
void Stillness::tell(pid_t pid, std::vector<std::string>& told) {
  const auto its = stat_of(folder_of(pid));
  if (!its) return;
  const std::string tasks = folder_of(pid) + "/task/";
  for (const pid_t thread : numbers_in(tasks)) {
    std::string folder = tasks + std::to_string(thread);
    const char state = state_of(folder);
    if (!is_awake(state) && (state != 'D' || told_.contains(thread))) continue;
    if (syscall(SYS_tgkill, pid, thread, SIGSTOP) != 0) continue;  // gone, or another user's
    told_.insert(thread);
    told.push_back(std::move(folder));
    if (std::none_of(stopped_.begin(), stopped_.end(),
                     [pid](const Stopped& one) { return one.pid == pid; }))
      stopped_.push_back({pid, its->start_ticks});
  }
}

// Also those whom `who` would not list any more: one that was stopped on its way out of some call
// may have changed in it what it is known by.
Stillness::~Stillness() {
  for (auto one = stopped_.rbegin(); one != stopped_.rend(); ++one)
    if (const auto its = stat_of(folder_of(one->pid)); its && its->start_ticks == one->start_ticks)
      kill(one->pid, SIGCONT);
}

}  // namespace bulkhead
