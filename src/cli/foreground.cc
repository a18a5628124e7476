#include "cli/foreground.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "sandbox/process_stat.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;

// For who is told to stop and gets no processor; all of a pass together.
constexpr std::chrono::seconds kStopIn{1};

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// Zeros for one that has gone.
ProcessStat read_stat(const std::string& folder) { return stat_of(folder).value_or(ProcessStat{}); }

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

// The program that a process runs: two processes of one have the same.
struct Program {
  explicit Program(pid_t pid) {
    struct stat exe = {};
    if (stat((folder_of(pid) + "/exe").c_str(), &exe) == 0) {
      device = exe.st_dev;
      inode = exe.st_ino;
    }
  }
  bool operator==(const Program&) const = default;

  dev_t device = 0;
  ino_t inode = 0;
};

// Who is to keep still (see Stillness), in generations, parents before their children.
std::map<size_t, std::vector<pid_t>> processes_of_job(pid_t foreground) {
  std::map<pid_t, ProcessStat> all;
  for (const pid_t pid : numbers_in("/proc")) all[pid] = read_stat(folder_of(pid));
  std::set<pid_t> above;  // us, and who started us
  for (pid_t pid = getpid(); pid > 0 && above.insert(pid).second;) pid = all[pid].parent;

  const Program ours(getpid());
  std::map<size_t, std::vector<pid_t>> found;  // by depth below `above`
  for (const auto& [pid, its] : all) {
    if (above.contains(pid)) continue;
    bool in_group = false;
    pid_t root = pid;
    size_t depth = 0;
    // Not read at one moment: numbers given anew could make a circle.
    for (; !above.contains(root) && depth < all.size(); ++depth) {
      const auto at = all.find(root);
      if (at == all.end()) break;
      in_group |= at->second.group == foreground || at->second.group == getpgrp();
      root = at->second.parent;
    }
    if (root != getpid() && (!in_group || (Program(pid) == ours && Program(its.parent) != ours)))
      continue;  // somebody else's, or another supervisor
    found[depth].push_back(pid);
  }
  return found;
}

bool is_awake(char state) { return state == 'R' || state == 'S'; }

}  // namespace

bool is_ours(pid_t group) {
  if (group == getpgrp()) return true;
  for (pid_t pid = group; pid > 1; pid = read_stat(folder_of(pid)).parent)
    if (pid == getpid()) return true;
  return false;
}

bool is_under_job_control() {
  for (const pid_t pid : numbers_in("/proc")) {
    const ProcessStat its = read_stat(folder_of(pid));
    if (its.group != getpgrp()) continue;
    const ProcessStat above = read_stat(folder_of(its.parent));
    if (above.session == its.session && above.group != its.group) return true;
  }
  return false;
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

// A generation has stopped before the next is told, so that nobody sees a child stop, as a shell of
// the program's or the compartment's first process would, and takes it for somebody's wish: who
// waits for children and is told to stop looks once more for who has stopped.
bool Stillness::holds(pid_t asks) {
  bool still = true;
  const auto until = std::chrono::steady_clock::now() + kStopIn;
  for (const auto& [depth, pids] : processes_of_job(foreground_)) {
    std::vector<std::string> told;
    for (const pid_t pid : pids)
      if (pid != asks) tell(pid, told);
    still = still && told.empty();
    for (const std::string& thread : told)
      while (is_awake(read_stat(thread).state) && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return still;
}

// Each thread gets a signal of its own. The one that a process gets wakes one thread, and that may
// be one whose call the supervisor serves: nothing but a deadly signal wakes it, and what wakes it
// in the end must find it stopped.
void Stillness::tell(pid_t pid, std::vector<std::string>& told) {
  const std::string tasks = folder_of(pid) + "/task/";
  for (const pid_t thread : numbers_in(tasks)) {
    std::string folder = tasks + std::to_string(thread);
    const char state = read_stat(folder).state;
    if (!is_awake(state) && (state != 'D' || told_.contains(thread))) continue;
    if (syscall(SYS_tgkill, pid, thread, SIGSTOP) != 0) continue;  // gone, or another user's
    told_.insert(thread);
    told.push_back(std::move(folder));
    if (std::find(stopped_.begin(), stopped_.end(), pid) == stopped_.end()) stopped_.push_back(pid);
  }
}

Stillness::~Stillness() {
  for (auto pid = stopped_.rbegin(); pid != stopped_.rend(); ++pid) kill(*pid, SIGCONT);
}

bool interrupt_pending(pid_t pid) {
  const auto text = read_file(folder_of(pid) + "/status", 16384);
  if (!text.ok()) return false;
  for (const std::string_view field : {"\nSigPnd:\t", "\nShdPnd:\t"}) {
    const size_t at = text->find(field);
    if (at == std::string::npos) continue;
    const uint64_t mask = std::strtoull(text->c_str() + at + field.size(), nullptr, 16);
    if ((mask >> static_cast<unsigned>(SIGINT - 1) & 1U) != 0) return true;
  }
  return false;
}

}  // namespace bulkhead
