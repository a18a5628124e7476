#include "cli/foreground.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/kernel/process_stat.h"
#include "sandbox/run/stillness.h"

namespace bulkhead {
namespace {

// Zeros for one that has gone.
ProcessStat read_stat(const std::string& folder) { return stat_of(folder).value_or(ProcessStat{}); }

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

}  // namespace

Generations processes_of_job(pid_t foreground) {
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
  Generations generations;
  for (auto& [depth, pids] : found) generations.push_back(std::move(pids));
  return generations;
}

bool is_ours(pid_t group) {
  if (group == getpgrp()) return true;
  for (pid_t pid = group; pid > 1; pid = read_stat(folder_of(pid)).parent)
    if (pid == getpid()) return true;
  return false;
}

}  // namespace bulkhead
