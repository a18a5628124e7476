#include "sandbox/calls/common.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "sandbox/caller/identity.h"
#include "sandbox/caller/pool.h"
#include "sandbox/home/spare_folders.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

OwnLink::OwnLink(int fd) : text{} { std::snprintf(text, sizeof text, "/proc/self/fd/%d", fd); }

std::optional<Reply> interrupted(const Call& call, PendingSignal signal, bool begins_again) {
  if (pool_is_stopping() || !call.still_valid()) return Reply::error(EINTR);
  if (signal == PendingSignal::kNone) return std::nullopt;
  // Where another thread has handled it by then, who made this call would see the number.
  return Reply::error(signal == PendingSignal::kOwn && begins_again ? kRestart : EINTR);
}

int adopt_umask(Call& call) {
  const auto status = call.service().processes.status(call.tid());
  if (!status) return ESRCH;
  call.borrow_umask(status->umask);
  return 0;
}

std::optional<Reply> refuse_privileged(Call& call, mode_t mode, const std::string& what) {
  if (!makes_privileged(mode) || call.service().plan.enforcement == Enforcement::kAuditOnly)
    return std::nullopt;
  call.note_refusal(Kind::kWriteStatus, what,
                    "set-user-ID and set-group-ID programs would outlive the compartment");
  return Reply::error(EPERM);
}

bool is_in_dev(std::string_view path) noexcept {
  return path != "/dev" && is_within(path, "/dev") && !is_within(path, "/dev/shm") &&
         !is_within(path, "/dev/pts") && !is_within(path, "/dev/mqueue");
}

std::optional<Reply> refuse_device(Call& call, bool is_path, const std::string& path, mode_t type) {
  const bool named = is_path && is_in_dev(path);
  if (!named && !S_ISCHR(type) && !S_ISBLK(type)) return std::nullopt;
  if (is_path && is_within(path, "/dev/pts")) return std::nullopt;
  call.note_refusal(Kind::kWriteStatus, path, "a device of the machine, or its place in /dev");
  return Reply::error(EPERM);
}

bool is_in_memory(int fd) noexcept {
  struct statfs status {};
  return ::fstatfs(fd, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

void note_taken(const Call& call, int fd, uint64_t bytes) {
  if (call.service().plan.limits.written && !is_in_memory(fd))
    call.service().processes.note_taken(bytes);
}

bool leads_on(mode_t type) noexcept { return type == S_IFDIR || type == S_IFLNK; }

std::optional<Reply> refuse_above_block(Call& call, const std::string& path, mode_t type) {
  const Policy& policy = call.service().judge.policy();
  if (call.service().plan.enforcement == Enforcement::kAuditOnly || call.is_own(path) ||
      !(leads_on(type) ? policy.above_block(path) : policy.stands_above_block(path)))
    return std::nullopt;
  call.note_refusal(Kind::kWrite, path, "a blocked path lies below it, or would");
  return Reply::error(EACCES);
}

void note_unseen(Call& call, const std::string& path) {
  struct stat about {};
  if (!call.is_own(path) || ::lstat(path.c_str(), &about) != 0) return;
  const Decision decision = call.service().judge.policy().decide_path(Kind::kRead, path);
  if (decision.verdict == Verdict::kAllow) return;
  const bool blocked = decision.verdict == Verdict::kDeny && decision.rule != kOtherwiseRule;
  call.note_refusal(Kind::kRead, path, blocked ? kUnseenBlocked : kUnseen);
}

void note_unseen(Call& call, const Spelling& spelling, const Found& found) {
  if (!call.service().plan.home) return;
  call.restore_steps();
  note_unseen(call, found.canonical.empty() ? meaning(call, spelling.text, Magic::kFollowed)
                                            : found.canonical);
}

void note_planted(Call& call, const std::string& path) {
  if (!call.is_own(path)) return;
  const Policy& policy = call.service().judge.policy();
  const Decision decision = policy.decide_path(Kind::kWrite, path);
  // Names that are blocked anywhere are blocked for what somebody else does in that folder.
  if (decision.verdict == Verdict::kDeny && decision.rule != kOtherwiseRule &&
      !policy.rule(decision.rule).resolved.starts_with("**/"))
    call.note_refusal(Kind::kWrite, path, kPlanted);
}

bool starts_programs(const Call& call, std::string_view path) {
  const auto& rules = call.service().plan.landlock;
  const SpareFolders* spare = call.service().spare_folders;
  return (spare != nullptr && spare->holds(path)) ||
         std::any_of(rules.begin(), rules.end(), [path](const LandlockRule& rule) {
           return (rule.access & kLandlockExecute) != 0 && is_within(path, rule.path);
         });
}

namespace {

// Whether a block, not the lack of a grant, denies it.
bool is_blocked(const Call& call, Kind kind, std::string_view path) {
  if (call.is_own(path)) return false;
  const Decision decision = call.service().judge.policy().decide_path(kind, path);
  return decision.verdict == Verdict::kDeny && decision.rule != kOtherwiseRule;
}

}  // namespace

bool is_blocked_name(const Call& call, Kind kind, const Spelling& spelling,
                     std::string_view canonical, std::string* name) {
  if (spelling.text.empty() || spelling.text == canonical) return false;
  *name = spelling.text;
  if (spelling.parents) {
    // What ".." means depends on the links before it, so the last one is resolved.
    size_t up = name->rfind("/..");
    while (up != std::string::npos && up + 3 != name->size() && (*name)[up + 3] != '/')
      up = up == 0 ? std::string::npos : name->rfind("/..", up - 1);
    if (up == std::string::npos) return false;
    Spelling above{.text = name->substr(0, up + 3), .tail = Tail::kDotDot, .parents = true};
    Found folder;
    if (call.service().walker.resolve(call, above, Follow::kYes, &folder) != 0 || !folder.is_path)
      return false;
    *name = normalize(folder.canonical + name->substr(up + 3));
  }
  return !is_within(*name, "/proc") && is_blocked(call, kind, *name);
}

std::optional<Reply> refuse_name(Call& call, Kind kind, const Spelling& spelling,
                                 std::string_view canonical) {
  std::string name;
  if (!is_blocked_name(call, kind, spelling, canonical, &name)) return std::nullopt;
  return call.refuse_unless(kind, name);
}

int spell_argument(const Call& call, int folder, uint64_t address, Spelling* spelling) {
  std::string path;
  const Walker& walker = call.service().walker;
  if (const int error = walker.read_path(call, address, &path); error != 0) return error;
  return walker.spell(call, folder, path, spelling);
}

}  // namespace bulkhead
