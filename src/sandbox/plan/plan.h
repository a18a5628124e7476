// Plan: everything about a compartment that is decided before a process of it exists. Pure data,
// so that what will be enforced can be printed (`bulkhead run --dry-run`) and tested.
//
// What it does not hold: what is allowed. That is the policy's; Landlock's rules are a part of it.
#pragma once

#include <linux/filter.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/judge.h"
#include "policy/policy.h"
#include "sandbox/home/private_home.h"
#include "sandbox/kernel/landlock.h"
#include "sandbox/plan/rule_places.h"

namespace bulkhead {

// A folder of bulkhead's own (canonical; it must be there at launch) that stands at `place`, right
// below a private tree, so that what the program leaves there outlives the run.
struct KeptFolder {
  std::string source;
  std::string place;
};

// Which folder a name stood for. Inode numbers come again once a folder is removed, so the time at
// which it was made belongs to it.
struct FolderIdentity {
  uint64_t device = 0, inode = 0;
  int64_t born = 0;  // in nanoseconds; 0 where the file system keeps no such time
  friend bool operator==(const FolderIdentity&, const FolderIdentity&) = default;
};

struct PlanOptions {
  Enforcement enforcement = Enforcement::kEnforce;
  std::vector<KeptFolder> kept = {};  // left out where the policy has something else there
  // bulkhead's own folder for what is made in a private home (home_store.h; it need not be there
  // where nothing is launched); used where the policy has one.
  std::string home_store = {};
  Limits limits = {};  // those that are set take the place of the policy's
  // Serve every call by the supervisor even where the kernel could decide: slower, for comparing.
  bool serve_every_call = false;
};

// Which of the caller's descriptors the program has, by the program's numbers; all else is closed
// there. kGivenLater: none yet, see give().
using Stdio = std::map<int, int>;
inline constexpr int kGivenLater = -1;
inline constexpr int kHighestNumber = 255;

struct Plan {
  std::shared_ptr<const Policy> policy;
  Enforcement enforcement = Enforcement::kEnforce;

  std::string program;  // absolute path to execute
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value", already filtered by the policy
  std::string folder;                    // working folder, canonical
  // A session of its own, without terminal, whose processes are all in the compartment. False where
  // the caller leads a session already that holds nobody else. Its process group is its own anyway.
  bool new_session = true;
  // Objects of the machine among them are the program's from then on, past every rule. Of the
  // caller's own 0 to 2, what is closed stays closed.
  Stdio stdio = {{0, 0}, {1, 1}, {2, 2}};

  // What the kernel denies by itself: all that its Landlock can. (Less is for tests, which do as on
  // an older kernel.)
  LandlockSupport denied = landlock_support();
  // Trees and files that the kernel may decide on by itself; everything else goes through the
  // supervisor. Sorted by path.
  std::vector<LandlockRule> landlock;
  std::shared_ptr<RulePlaces> rule_places;  // where those are, whatever the program renames
  // The trees among them that openat and friends may be answered CONTINUE in, for lexical paths
  // without symlinks: subset of policy->whole_trees(), plus scratch that holds no bind. Folders
  // only: a file is often replaced by another, which Landlock's rule, bound to the inode, does not
  // cover. Sorted by index_kernel_decides().
  std::vector<WholeTree> kernel_decides;
  std::vector<int32_t> enclosing;  // for each of them: the smallest other one around it, or -1
  // For each of them: which folder it was at the start, the one that Landlock's rule is of. None
  // for the compartment's own, which nobody outside has.
  std::vector<std::optional<FolderIdentity>> identities;
  std::shared_ptr<std::atomic<bool>[]> withdrawn;  // for each of them: see withdraw_from_kernel()

  bool private_tmp = true;  // fresh tmpfs on /tmp
  bool private_shm = true;  // fresh tmpfs on /dev/shm
  std::vector<std::string>
      binds;  // existing granted paths below private trees, bound at the same place
  std::vector<KeptFolder> kept;
  std::shared_ptr<const PrivateHome> home;  // null: the machine's
  std::vector<std::string>
      hidden;  // masked: a folder by an empty read-only one, a file by an empty one

  std::vector<sock_filter> filter;
  Limits limits;
  bool count_processes = false;  // fork and clone are notified: limits.processes is set

  // As the caller of make_plan() had them, for the program; bit n-1 for signal n. So make the plan
  // before changing the mask or a disposition for the supervisor's own needs.
  uint64_t blocked_signals = 0;
  uint64_t ignored_signals = 0;
};

// Refuses what this kernel cannot enforce, naming the feature.
Result<Plan> make_plan(std::shared_ptr<const Policy> policy, std::vector<std::string> command,
                       std::vector<std::string> environment, std::string folder,
                       const PlanOptions& options);

// Sorts plan.kernel_decides and makes its index, as of the folders that are there now; for whoever
// fills it by hand.
void index_kernel_decides(Plan& plan);

// True where the kernel may decide this access: kRead and kWrite below a tree of kernel_decides
// with that right, where that is still the folder that it was at the start: one that was not there
// yet, or that somebody outside replaced since, has no rule of Landlock's. Never for /proc, whose
// names mean something else to each process. No allocation.
bool kernel_decides(const Plan& plan, Kind kind, std::string_view path) noexcept;

// To be called before `path` is removed, renamed or replaced: trees at and below it are decided by
// the supervisor from now on, because Landlock's rules stay on the old inodes. Thread-safe.
void withdraw_from_kernel(const Plan& plan, std::string_view path) noexcept;

}  // namespace bulkhead
