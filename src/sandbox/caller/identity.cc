#include "sandbox/caller/identity.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "sandbox/kernel/capabilities.h"

namespace bulkhead {

namespace {

struct Own {
  uid_t user = ::geteuid();
  gid_t group = ::getegid();
  uint64_t capabilities = effective_capabilities();
  std::vector<gid_t> groups;
  Own() {
    const int n = ::getgroups(0, nullptr);
    groups.resize(n > 0 ? static_cast<size_t>(n) : 0);
    if (n > 0 && ::getgroups(n, groups.data()) != n) groups.clear();
  }
};

const Own& own() {
  static const Own value;
  return value;
}

// setfsuid(2) reports no failure; asking again with an impossible id tells the present one.
bool set_file_user(uid_t user) {
  syscall(SYS_setfsuid, user);
  return static_cast<uid_t>(syscall(SYS_setfsuid, static_cast<uid_t>(-1))) == user;
}
bool set_file_group(gid_t group) {
  syscall(SYS_setfsgid, group);
  return static_cast<gid_t>(syscall(SYS_setfsgid, static_cast<gid_t>(-1))) == group;
}
// These take the file ids along, and the effective capabilities away.
bool set_user(uid_t user) {
  return syscall(SYS_setresuid, static_cast<uid_t>(-1), user, static_cast<uid_t>(-1)) == 0;
}
bool set_group(gid_t group) {
  return syscall(SYS_setresgid, static_cast<gid_t>(-1), group, static_cast<gid_t>(-1)) == 0;
}
bool set_capabilities(uint64_t wanted) {
  return effective_capabilities() == wanted || set_effective_capabilities(wanted) == 0;
}
bool set_groups(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

}  // namespace

BorrowedUmask::BorrowedUmask(mode_t mask) noexcept : before_(::umask(mask)) {}
BorrowedUmask::~BorrowedUmask() { ::umask(before_); }

BorrowedIdentity::BorrowedIdentity(const ThreadStatus& as) {
  if (own().user != 0) return;
  // The real ids stay, and with them the way back. The right to set the file ids is gone with the
  // user, until it is taken back.
  borrowed_ = true;
  ok_ = set_groups(as.groups) && set_group(as.group) && set_user(as.user) &&
        set_capabilities(own().capabilities) && set_file_group(as.file_group) &&
        set_file_user(as.file_user);
  // The kernel has just taken them from a user other than 0, who may have kept some, and left them
  // to user 0, who may have dropped some.
  const uint64_t lent = own().capabilities & as.capabilities & kFileCapabilities;
  ok_ = ok_ && set_capabilities((effective_capabilities() & ~kFileCapabilities) | lent);
}

BorrowedIdentity::~BorrowedIdentity() {
  if (!borrowed_) return;
  // Staying half somebody else would serve the next caller with the wrong rights. What is set is
  // our own, which the kernel refuses for want of memory alone.
  while (!set_user(own().user) || !set_capabilities(own().capabilities) ||
         !set_group(own().group) || !set_file_user(own().user) || !set_file_group(own().group) ||
         !set_groups(own().groups))
    ::usleep(1000);
}

}  // namespace bulkhead
