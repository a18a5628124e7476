#include "sandbox/kernel/landlock.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/kernel/kernel.h"

namespace bulkhead {

LandlockSupport landlock_of_abi(long abi) noexcept {
  LandlockSupport support;
  if (abi < 1) return support;
  support.abi = static_cast<int>(abi);
  support.rights = (uint64_t{1} << 13) - 1;
  if (abi >= 2) support.rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) support.rights |= kLandlockTruncate;
  if (abi >= 5) support.rights |= kLandlockIoctlDev;
  support.scopes = abi >= 6;
  return support;
}

LandlockSupport landlock_support() {
  // ENOSYS: not built in. EOPNOTSUPP: not among the active LSMs.
  return landlock_of_abi(
      ::syscall(__NR_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

namespace {

// Opens a rule's place without following any symlink: a rule on what a link points to today would
// grant another tree than the policy named.
int open_place(const char* path) noexcept {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof how));
}

// 0, or an errno. `access` must be of rights that the kernel knows; none at all would be refused
// (ENOMSG), and would grant nothing.
int grant(int ruleset, int place, uint64_t access) noexcept {
  landlock_path_beneath_attr attr{};
  attr.allowed_access = access;
  attr.parent_fd = place;
  if (access == 0) return 0;
  const long done =
      ::syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
  return done == 0 ? 0 : errno;
}

// 0, or an errno. A place that cannot be opened is no error.
int add_rule(int ruleset, const LandlockPlace& rule, uint64_t known) noexcept {
  const int place = open_place(rule.path);
  if (place < 0) {
    // EACCES: a folder above it that this user cannot search; the user could not open it either.
    const bool missing = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES;
    return missing ? 0 : errno;
  }
  struct stat status;
  int error = 0;
  if (::fstat(place, &status) != 0) {
    error = errno;
  } else {
    uint64_t access = rule.access & known;
    if (!S_ISDIR(status.st_mode)) access &= kLandlockFileRights;
    error = grant(ruleset, place, access);
  }
  ::close(place);
  return error;
}

}  // namespace

int landlock_restrict(const LandlockSupport& support, std::span<const LandlockPlace> rules,
                      int queues) noexcept {
  LandlockRulesetAttr attr;
  attr.handled_access_fs = support.rights;
  attr.scoped = support.scopes ? kLandlockScopeSignal | kLandlockScopeAbstractUnix : 0;
  const long ruleset = ::syscall(__NR_landlock_create_ruleset, &attr, sizeof attr, 0);
  if (ruleset < 0) return errno;
  const int fd = static_cast<int>(ruleset);
  int error = 0;
  for (const LandlockPlace& rule : rules) {
    error = add_rule(fd, rule, support.rights);
    if (error != 0) break;
  }
  // A queue is opened through a mount of the kernel's own, below no path: this is its root.
  if (error == 0 && queues >= 0) {
    error =
        grant(fd, queues, (kLandlockRead | kLandlockWrite) & kLandlockFileRights & support.rights);
  }
  if (error == 0 && ::syscall(__NR_landlock_restrict_self, fd, 0) != 0) error = errno;
  ::close(fd);
  return error;
}

}  // namespace bulkhead
