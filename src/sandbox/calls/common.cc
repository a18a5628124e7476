#include "sandbox/calls/common.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>

#include "sandbox/identity.h"
#include "sandbox/processes.h"

namespace bulkhead {

OwnLink::OwnLink(int fd) : text{} { std::snprintf(text, sizeof text, "/proc/self/fd/%d", fd); }

int adopt_umask(const Call& call) {
  const auto status = call.service().processes.status(call.tid());
  if (!status) return ESRCH;
  borrow_umask(status->umask);
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

void note_taken(const Call& call, int fd, uint64_t bytes) {
  struct statfs status {};
  if (!call.service().plan.limits.written || ::fstatfs(fd, &status) != 0 ||
      status.f_type == TMPFS_MAGIC)
    return;
  call.service().processes.note_taken(bytes);
}

bool leads_on(mode_t type) noexcept { return type == S_IFDIR || type == S_IFLNK; }

std::optional<Reply> refuse_above_block(Call& call, const std::string& path, mode_t type) {
  const Policy& policy = call.service().arbiter.policy();
  if (call.service().plan.enforcement == Enforcement::kAuditOnly ||
      !(leads_on(type) ? policy.above_block(path) : policy.stands_above_block(path)))
    return std::nullopt;
  call.note_refusal(Kind::kWrite, path, "a blocked path lies below it, or would");
  return Reply::error(EACCES);
}

int spell_argument(const Call& call, int folder, uint64_t address, Spelling* spelling) {
  std::string path;
  const Walker& walker = call.service().walker;
  if (const int error = walker.read_path(call, address, &path); error != 0) return error;
  return walker.spell(call, folder, path, spelling);
}

}  // namespace bulkhead
