#include "sandbox/plan/plan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/path.h"
#include "policy/executable_trees.h"
#include "policy/pattern.h"
#include "sandbox/limits/limits.h"
#include "sandbox/plan/executable.h"
#include "sandbox/plan/filter.h"

namespace bulkhead {
namespace {

constexpr unsigned kPathKinds =
    1u << static_cast<unsigned>(Kind::kRead) | 1u << static_cast<unsigned>(Kind::kWrite) |
    1u << static_cast<unsigned>(Kind::kWriteStatus) | 1u << static_cast<unsigned>(Kind::kRun);

// The mode of what is at `path` with no symlink on the way.
std::optional<mode_t> mode_of(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const Fd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  return status.st_mode;
}

std::optional<std::string> real_path(const std::string& path) {
  char buffer[PATH_MAX];
  if (::realpath(path.c_str(), buffer) == nullptr) return std::nullopt;
  return std::string(buffer);
}

// By components: "/" sorts before every other byte, so that a tree comes right before all that is
// in it ("/a", "/a/b", "/a-b").
bool component_less(std::string_view a, std::string_view b) noexcept {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
    return rank(x) < rank(y);
  });
}

Status check_kernel() {
  const LandlockSupport landlock = landlock_support();
  if (landlock.abi == 0 && errno == EOPNOTSUPP) {  // what a compartment answers, too
    return Error{
        "Landlock cannot be used here (feature \"landlock\"): either this is a compartment "
        "already, which holds no other, or this kernel lacks it in the boot parameter lsm=; see "
        "`bulkhead doctor`"};
  }
  if (landlock.abi == 0) {
    return Error{
        "this kernel does not enforce Landlock (feature \"landlock\"): it must be built in and "
        "named in the boot parameter lsm=; see `bulkhead doctor`"};
  }
  if (landlock.abi < kOldestLandlock) {
    return Error{
        fmt::format("this kernel's Landlock has ABI {}, and {} is needed (feature \"landlock\", "
                    "Linux 5.19); see "
                    "`bulkhead doctor`",
                    landlock.abi, kOldestLandlock)};
  }
  uint32_t action = SECCOMP_RET_USER_NOTIF;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    return Error{
        "this kernel has no seccomp notifications (feature \"seccomp-notify\"); see `bulkhead "
        "doctor`"};
  }
  return {};
}

// As execvp(3), with the PATH that the program will see.
Result<std::string> find_program(const std::string& name,
                                 const std::vector<std::string>& environment,
                                 const std::string& folder) {
  if (name.empty()) return Error{"cannot run a program without a name", ENOENT};
  if (name.find('/') != std::string::npos) {
    return name.front() == '/' ? name : folder + (folder.ends_with('/') ? "" : "/") + name;
  }
  std::string_view search = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) search = std::string_view(variable).substr(5);
  }
  bool found_file = false;
  while (true) {
    const size_t colon = search.find(':');
    const std::string_view entry = search.substr(0, colon);
    const std::string path = join(
        entry.empty() ? std::string_view(folder) : std::string_view(join(folder, entry)), name);
    struct stat status;
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (::access(path.c_str(), X_OK) == 0) return path;
      found_file = true;
    }
    if (colon == std::string_view::npos) break;
    search.remove_prefix(colon + 1);
  }
  if (found_file) {
    return Error{fmt::format("cannot run {}: what PATH has by that name is not executable",
                             escape_for_display(name)),
                 EACCES};
  }
  return Error{fmt::format("cannot run {}: not found in PATH", escape_for_display(name)), ENOENT};
}

bool is_scratch(const Policy& policy, std::string_view tree) {
  return std::any_of(policy.rules().begin(), policy.rules().end(), [tree](const Rule& rule) {
    return rule.source == Rule::Source::kBaseline && rule.group == "scratch" &&
           rule.resolved == tree;
  });
}

bool in_private_tree(const Plan& plan, std::string_view path) {
  return (plan.private_tmp && path != "/tmp" && is_within(path, "/tmp")) ||
         (plan.private_shm && path != "/dev/shm" && is_within(path, "/dev/shm"));
}

// Which granted paths lie below private trees, and must be bound there. Only concrete grants: the
// policy takes everything else in there for scratch.
Status find_binds(Plan& plan) {
  std::vector<std::string> binds;
  const auto consider = [&binds, &plan](const std::string& path) {
    if (!in_private_tree(plan, path) || !mode_of(path)) return false;
    binds.push_back(path);
    return true;
  };
  for (const Rule& rule : plan.policy->rules()) {
    if (rule.verdict != Verdict::kAllow || rule.group == "scratch") continue;
    if ((rule.kinds & kPathKinds) == 0) continue;
    const auto parsed = parse_pattern(rule.resolved);
    if (!parsed.ok() || !parsed->variable.empty() || !parsed->pattern.is_concrete()) continue;
    const std::string path = parsed->pattern.path();
    const bool bound = consider(path);
    const bool writes = (rule.kinds & 1u << static_cast<unsigned>(Kind::kWrite)) != 0;
    if (!bound && writes && rule.source == Rule::Source::kCommandLine &&
        in_private_tree(plan, path)) {
      return Error{
          fmt::format("{} does not exist, and the compartment has a {} of its own, where it would "
                      "be lost: make "
                      "it first, or grant writing {} to share that",
                      escape_for_display(path), is_within(path, "/tmp") ? "/tmp" : "/dev/shm",
                      is_within(path, "/tmp") ? "/tmp" : "/dev/shm")};
    }
  }
  for (const std::string& path : plan.policy->runnable_files()) consider(path);
  for (const std::string& path : plan.policy->runnable_trees()) consider(path);
  std::sort(binds.begin(), binds.end(), component_less);
  for (std::string& path : binds) {
    if (plan.binds.empty() || !is_within(path, plan.binds.back())) {
      plan.binds.push_back(std::move(path));
    }
  }
  return {};
}

// After the binds, which come from a person.
void find_kept(Plan& plan, const std::vector<KeptFolder>& wanted) {
  for (const KeptFolder& each : wanted) {
    const bool free =
        std::none_of(plan.binds.begin(), plan.binds.end(), [&each](const std::string& bind) {
          return is_within(bind, each.place) || is_within(each.place, bind);
        });
    if (free && in_private_tree(plan, each.place)) plan.kept.push_back(each);
  }
}

Status find_hidden(Plan& plan) {
  for (const std::string& path : plan.policy->hidden()) {
    if (is_within(path, "/proc")) {
      return Error{
          fmt::format("cannot hide {}: /proc is made anew for each compartment and shows "
                      "only its own processes",
                      escape_for_display(path))};
    }
    const auto canonical = real_path(path);
    if (canonical && !(plan.home && plan.home->holds(*canonical)))
      plan.hidden.push_back(*canonical);
  }
  std::sort(plan.hidden.begin(), plan.hidden.end());
  plan.hidden.erase(std::unique(plan.hidden.begin(), plan.hidden.end()), plan.hidden.end());
  return {};
}

using Grants = std::map<std::string, uint64_t>;

// Blocked for reading, and so for running too: what is executed is mapped, and
// READ_FILE goes along.
bool is_blocked(const Policy& policy, const std::string& file) {
  const Decision decision = policy.decide_path(Kind::kRead, file);
  return decision.verdict == Verdict::kDeny && decision.rule != kOtherwiseRule;
}

// Whether the kernel may start `file` because a program names it as its interpreter. That name is
// the program's author's choice, so it must lead to what the policy gives, or to a part of the
// system, and not to whatever of the user's a crafted PT_INTERP points to.
bool may_interpret(const Policy& policy, const std::string& file) {
  constexpr std::string_view kSystem[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64"};
  return policy.decide_path(Kind::kRead, file).verdict == Verdict::kAllow ||
         policy.decide_path(Kind::kRun, file).verdict == Verdict::kAllow ||
         std::any_of(std::begin(kSystem), std::end(kSystem),
                     [&file](std::string_view tree) { return is_within(file, tree); });
}

// Landlock asks for READ_FILE besides EXECUTE, on the program and on its ELF interpreter.
void grant_program(const Policy& policy, const std::string& path, Grants& grants) {
  const std::vector<std::string> files = files_to_execute(path);
  for (const std::string& file : files) {
    if (is_blocked(policy, file) || (&file != &files.front() && !may_interpret(policy, file))) {
      continue;
    }
    grants[file] |= kLandlockExecute | (kLandlockRead & kLandlockFileRights);
  }
}

// Whether the tree is the compartment's own and holds nothing of the machine's. (A rule walks up
// across mount points: one on /tmp would also grant what is bound below it.)
bool is_private_whole(const Plan& plan, std::string_view tree) {
  if (plan.home && (is_within(plan.home->home(), tree) || is_within(tree, plan.home->home())))
    return false;
  if (!(plan.private_tmp && is_within(tree, "/tmp")) &&
      !(plan.private_shm && is_within(tree, "/dev/shm")))
    return false;
  return std::none_of(plan.binds.begin(), plan.binds.end(), [tree](const std::string& bind) {
    return is_within(bind, tree) || is_within(tree, bind);
  });
}

void plan_landlock(Plan& plan, const PlanOptions& options) {
  const Policy& policy = *plan.policy;
  Grants grants;
  // There the supervisor's check at execve is all there is (SECURITY.md).
  const bool starts = starts_what_it_reads(policy);
  // A tree of the machine's may hold set-id programs, and who opens one for writing has to lose its
  // bits (calls/open.cc): the kernel would leave them.
  const auto may_write = [&plan](const WholeTree& tree, mode_t mode) {
    return tree.write && (S_ISCHR(mode) || S_ISBLK(mode) || is_private_whole(plan, tree.path));
  };
  const auto add_tree = [&](const WholeTree& tree, mode_t mode) {
    // Commands of devices are held by the filter's list.
    uint64_t access = kLandlockIoctl;
    if (tree.read) access |= kLandlockRead | (starts ? kLandlockExecute : 0);
    if (may_write(tree, mode)) access |= kLandlockWrite;
    grants[tree.path] |= S_ISDIR(mode) ? access : access & kLandlockFileRights;
    if (!S_ISDIR(mode) || options.serve_every_call) return;
    plan.kernel_decides.push_back(tree);
    plan.kernel_decides.back().write = may_write(tree, mode);
  };
  for (const WholeTree& tree : policy.whole_trees()) {
    if (!tree.read && !tree.write) continue;
    // A process's own /proc lies behind a link, and others' is not for the kernel to give.
    if (is_within(tree.path, "/proc")) continue;
    if (const auto mode = mode_of(tree.path)) add_tree(tree, *mode);
  }
  for (const char* const scratch : {"/tmp", "/dev/shm"})
    if (is_private_whole(plan, scratch)) add_tree({scratch, true, true}, S_IFDIR);
  // Only the process itself can open its terminal by this name, so it is answered CONTINUE.
  uint64_t terminal = 0;
  if (policy.decide_path(Kind::kRead, "/dev/tty").verdict != Verdict::kDeny) {
    terminal |= kLandlockRead & kLandlockFileRights;
  }
  if (policy.decide_path(Kind::kWrite, "/dev/tty").verdict != Verdict::kDeny) {
    terminal |= kLandlockWrite & kLandlockFileRights;
  }
  if (terminal != 0) grants["/dev/tty"] |= terminal | kLandlockIoctl;

  for (const std::string& file : policy.runnable_files()) grant_program(policy, file, grants);
  for (const std::string& tree : executable_trees(policy))
    if (!is_within(tree, "/proc") && mode_of(tree))
      grants[tree] |= kLandlockExecute | kLandlockRead;
  grant_program(policy, plan.program, grants);
  // Not for writing: see private_home.h. What is in them is served all the same, and this is what
  // lets programs start that were put there.
  if (plan.home)
    for (const std::string& folder : own_folders(*plan.home))
      grants[folder] |= kLandlockExecute | kLandlockRead;
  if (plan.enforcement == Enforcement::kAuditOnly) {
    grants.clear();
    grants["/"] = kLandlockRead | kLandlockWrite | kLandlockExecute | kLandlockIoctl;
  }
  for (const auto& [path, access] : grants) plan.landlock.push_back({path, access});
  plan.rule_places = std::make_shared<RulePlaces>(plan.landlock);
}

void remember_signals(Plan& plan) {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int number = 1; number <= 64; ++number) {
    const uint64_t bit = uint64_t{1} << (number - 1);
    if (::sigismember(&blocked, number) == 1) plan.blocked_signals |= bit;
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      plan.ignored_signals |= bit;
    }
  }
}

}  // namespace

Result<Plan> make_plan(std::shared_ptr<const Policy> policy, std::vector<std::string> command,
                       std::vector<std::string> environment, std::string folder,
                       const PlanOptions& options) {
  BULKHEAD_CHECK(check_kernel());
  if (command.empty()) return Error{"no program to run was named"};
  Plan plan;
  BULKHEAD_TRY(plan.program, find_program(command.front(), environment, folder));
  plan.policy = std::move(policy);
  plan.enforcement = options.enforcement;
  plan.argv = std::move(command);
  plan.environment = std::move(environment);
  plan.folder = std::move(folder);
  plan.limits = with_limits(plan.policy->limits(), options.limits);
  plan.count_processes = plan.limits.processes.has_value();

  // The policy was compiled with these trees as scratch exactly where no grant names them.
  plan.private_tmp = is_scratch(*plan.policy, "/tmp") && mode_of("/tmp");
  plan.private_shm = is_scratch(*plan.policy, "/dev/shm") && mode_of("/dev/shm");
  BULKHEAD_CHECK(find_binds(plan));
  find_kept(plan, options.kept);
  if (!options.home_store.empty() && !plan.policy->private_home().empty()) {
    BULKHEAD_TRY(auto home, plan_home(*plan.policy, options.home_store, plan.folder));
    plan.home = std::make_shared<const PrivateHome>(std::move(home));
  }
  BULKHEAD_CHECK(find_hidden(plan));
  if (in_private_tree(plan, plan.folder) && !(plan.home && plan.home->holds(plan.folder)) &&
      std::none_of(plan.binds.begin(), plan.binds.end(),
                   [&plan](const std::string& bind) { return is_within(plan.folder, bind); })) {
    return Error{fmt::format(
        "the working folder {} is not granted, and the compartment has a {} of its own: grant "
        "reading it, or start in another folder",
        escape_for_display(plan.folder), is_within(plan.folder, "/tmp") ? "/tmp" : "/dev/shm")};
  }
  plan_landlock(plan, options);
  index_kernel_decides(plan);
  plan.filter = make_filter({.count_processes = plan.count_processes,
                             .fixed_cpus = pins_cpus(plan.limits),
                             .count_written = counts_written(plan.limits),
                             .count_memory = counts_memory(plan.limits)});
  remember_signals(plan);
  return plan;
}

namespace {

// Inode 0 is nobody's: what is not there is no folder that comes later.
FolderIdentity identity_of(const std::string& path) noexcept {
  struct statx about;
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
              STATX_INO | STATX_BTIME, &about) != 0)
    return {};
  const bool born = (about.stx_mask & STATX_BTIME) != 0;
  return {uint64_t{about.stx_dev_major} << 32U | about.stx_dev_minor, about.stx_ino,
          born ? about.stx_btime.tv_sec * 1'000'000'000 + about.stx_btime.tv_nsec : 0};
}

}  // namespace

void index_kernel_decides(Plan& plan) {
  auto& trees = plan.kernel_decides;
  std::sort(trees.begin(), trees.end(),
            [](const WholeTree& a, const WholeTree& b) { return component_less(a.path, b.path); });
  plan.identities.clear();
  for (const WholeTree& tree : trees) {
    plan.identities.emplace_back();
    if (!is_private_whole(plan, tree.path)) plan.identities.back() = identity_of(tree.path);
  }
  plan.enclosing.assign(trees.size(), -1);
  for (size_t i = 1; i < trees.size(); ++i) {
    int32_t around = static_cast<int32_t>(i) - 1;
    while (around >= 0 && !is_within(trees[i].path, trees[static_cast<size_t>(around)].path)) {
      around = plan.enclosing[static_cast<size_t>(around)];
    }
    plan.enclosing[i] = around;
  }
  plan.withdrawn.reset(new std::atomic<bool>[trees.size()]());
}

bool kernel_decides(const Plan& plan, Kind kind, std::string_view path) noexcept {
  if (kind != Kind::kRead && kind != Kind::kWrite) return false;
  const auto& trees = plan.kernel_decides;
  // Without an index (a plan made by hand) nothing is the kernel's.
  if (trees.empty() || plan.enclosing.size() != trees.size()) return false;
  if (is_within(path, "/proc") || (plan.home && plan.home->holds(path))) return false;
  const auto after = std::upper_bound(
      trees.begin(), trees.end(), path,
      [](std::string_view p, const WholeTree& tree) { return component_less(p, tree.path); });
  for (auto i = static_cast<int32_t>(after - trees.begin()) - 1; i >= 0;) {
    const auto at = static_cast<size_t>(i);
    const WholeTree& tree = trees[at];
    if (is_within(path, tree.path) && (kind == Kind::kRead ? tree.read : tree.write) &&
        !plan.withdrawn[i].load(std::memory_order_relaxed)) {
      const std::optional<FolderIdentity>& known = plan.identities[at];
      if (!known || (known->inode != 0 && identity_of(tree.path) == *known)) return true;
    }
    i = plan.enclosing[at];
  }
  return false;
}

void withdraw_from_kernel(const Plan& plan, std::string_view path) noexcept {
  const auto& trees = plan.kernel_decides;
  if (!plan.withdrawn || plan.enclosing.size() != trees.size()) return;
  auto tree = std::lower_bound(
      trees.begin(), trees.end(), path,
      [](const WholeTree& each, std::string_view p) { return component_less(each.path, p); });
  for (; tree != trees.end() && is_within(tree->path, path); ++tree) {
    plan.withdrawn[tree - trees.begin()].store(true);
  }
}

}  // namespace bulkhead
