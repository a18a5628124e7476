// chmod, chown, truncate, times, extended attributes: by path and by descriptor. Landlock knows
// none but truncate, so these are always done here, on what was resolved.
#include <fcntl.h>
#include <linux/xattr.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "base/path.h"
#include "sandbox/calls/common.h"
#include "sandbox/calls/repository.h"
#include "sandbox/kernel/kernel.h"

namespace bulkhead {

namespace {

Reply result(int64_t value) { return value < 0 ? Reply::error(errno) : Reply::value(value); }

// What the call is about: `by_descriptor` means that descriptor `folder` itself.
struct Target {
  int folder = AT_FDCWD;
  uint64_t path = 0;
  Follow follow = Follow::kYes;
  bool by_descriptor = false;
  bool empty_path = false;  // AT_EMPTY_PATH: an empty path means the descriptor
};

Target descriptor(int number) { return {number, 0, Follow::kYes, true, false}; }
Target path(uint64_t address, Follow follow = Follow::kYes) {
  return {AT_FDCWD, address, follow, false, false};
}
Target path_at(int folder, uint64_t address, uint32_t flags) {
  return {folder, address, (flags & AT_SYMLINK_NOFOLLOW) != 0 ? Follow::kNo : Follow::kYes, false,
          (flags & AT_EMPTY_PATH) != 0};
}

// Finds it; nullopt: go ahead.
std::optional<Reply> locate(const Call& call, const Target& target, Found* found,
                            Spelling* spelling) {
  const Walker& walker = call.service().walker;
  bool by_descriptor = target.by_descriptor;
  std::string text;
  if (!by_descriptor) {
    if (const int error = walker.read_path(call, target.path, &text); error != 0)
      return Reply::error(error);
    by_descriptor = text.empty() && target.empty_path;
  }
  if (by_descriptor) {
    if (const int error = walker.resolve_descriptor(call, target.folder, found); error != 0)
      return Reply::error(error);
    // open(2): one of O_PATH is good for a name's calls alone.
    if (target.by_descriptor && found->held && (*found->held & O_PATH) != 0)
      return Reply::error(EBADF);
  } else {
    if (const int error = walker.spell(call, target.folder, text, spelling); error != 0)
      return Reply::error(error);
    if (const int error = walker.resolve(call, *spelling, target.follow, found); error != 0)
      return Reply::error(error);
  }
  if (const int error = Walker::look(found); error != 0) return Reply::error(error);
  return std::nullopt;
}

bool held_for_reading(const Found& found) {
  return found.held && (*found.held & O_PATH) == 0 && (*found.held & O_ACCMODE) != O_WRONLY;
}

// git makes its settings executable for a moment, to see whether the file system keeps that.
bool is_repositorys_own_mode(const Call& call, const Found& found, mode_t mode) {
  return found.is_path && S_ISREG(found.type) && (mode & ~mode_t{0755}) == 0 &&
         repository_part(call, found.canonical) == RepositoryPart::kConfig;
}

// Finds it and decides; nullopt: go ahead. `mode`: what chmod is to set.
std::optional<Reply> find(Call& call, const Target& target, Kind kind, Found* found,
                          std::optional<mode_t> mode = std::nullopt) {
  Spelling spelling;
  if (auto no = locate(call, target, found, &spelling)) return no;
  if (mode && is_repositorys_own_mode(call, *found, *mode)) {
    const std::string folder(parent_of(found->canonical));
    if (auto no = call.refuse_unless(kind, folder)) return no;
  } else if (found->is_path) {
    if (auto no = refuse_name(call, kind, spelling, found->canonical)) return no;
    if (auto no = call.refuse_unless(kind, found->canonical)) return no;
  } else if (found->canonical.starts_with('/') || S_ISREG(found->type) || S_ISDIR(found->type) ||
             S_ISCHR(found->type) || S_ISBLK(found->type)) {  // a FIFO with a name, too
    // A pipe, a socket, or a file that has no name left (a memfd, O_TMPFILE) is the caller's own
    // matter. One that has a name somewhere outside is not; nor is what the caller cannot read by
    // the descriptor that led here, and that may have had another's name until a moment ago.
    if (found->links != 0 || (kind == Kind::kRead && !held_for_reading(*found))) {
      call.note_refusal(kind, found->canonical, "a file from outside of the compartment");
      return Reply::error(EPERM);
    }
  }
  if (!call.still_valid()) return Reply::error(EINTR);
  return std::nullopt;
}

// 0 or errno. Times as the four calls pass them, to what utimensat takes.
int read_times(const Call& call, uint64_t address, timespec times[2], bool* given) {
  *given = address != 0;
  if (!*given) return 0;
  switch (call.number()) {
    case __NR_utimensat:
      return call.memory().read(address, times, 2 * sizeof *times).ok() ? 0 : EFAULT;
    case __NR_utime: {
      utimbuf old{};
      if (!call.memory().read(address, &old, sizeof old).ok()) return EFAULT;
      times[0] = {old.actime, 0};
      times[1] = {old.modtime, 0};
      return 0;
    }
    default: {
      timeval old[2];
      if (!call.memory().read(address, old, sizeof old).ok()) return EFAULT;
      for (int i = 0; i < 2; ++i) {
        if (old[i].tv_usec < 0 || old[i].tv_usec >= 1'000'000) return EINVAL;
        times[i] = {old[i].tv_sec, old[i].tv_usec * 1000};
      }
      return 0;
    }
  }
}

}  // namespace

Reply serve_chmod(Call& call) {
  Target target;
  mode_t mode = 0;
  uint32_t flags = 0;
  switch (call.number()) {
    case __NR_fchmod:
      target = descriptor(call.fd_arg(0));
      mode = static_cast<mode_t>(call.arg(1));
      break;
    case __NR_chmod:
      target = path(call.arg(0));
      mode = static_cast<mode_t>(call.arg(1));
      break;
    default:
      if (call.number() == __NR_fchmodat2) flags = call.flags_arg(3);
      if ((flags & ~static_cast<uint32_t>(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return Reply::error(EINVAL);
      target = path_at(call.fd_arg(0), call.arg(1), flags);
      mode = static_cast<mode_t>(call.arg(2));
      break;
  }
  mode &= 07777;
  Found found;
  if (auto no = find(call, target, Kind::kWriteStatus, &found, mode)) return std::move(*no);
  if (auto no = refuse_device(call, found.is_path, found.canonical, found.type))
    return std::move(*no);
  if (S_ISLNK(found.type)) return Reply::error(EOPNOTSUPP);  // as every file system answers
  // Also a bit that is there already: by then somebody may have written the file, which took it
  // away.
  if (S_ISREG(found.type))
    if (auto no = refuse_privileged(call, mode, found.canonical)) return std::move(*no);
  return result(::chmod(OwnLink(found.fd.get()).text, mode));
}

Reply serve_chown(Call& call) {
  Target target;
  size_t first = 1;
  switch (call.number()) {
    case __NR_fchown:
      target = descriptor(call.fd_arg(0));
      break;
    case __NR_chown:
      target = path(call.arg(0));
      break;
    case __NR_lchown:
      target = path(call.arg(0), Follow::kNo);
      break;
    default: {
      const uint32_t flags = call.flags_arg(4);
      if ((flags & ~static_cast<uint32_t>(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return Reply::error(EINVAL);
      target = path_at(call.fd_arg(0), call.arg(1), flags);
      first = 2;
      break;
    }
  }
  Found found;
  if (auto no = find(call, target, Kind::kWriteStatus, &found)) return std::move(*no);
  if (auto no = refuse_device(call, found.is_path, found.canonical, found.type))
    return std::move(*no);
  return result(::fchownat(found.fd.get(), "", static_cast<uid_t>(call.flags_arg(first)),
                           static_cast<gid_t>(call.flags_arg(first + 1)), AT_EMPTY_PATH));
}

Reply serve_truncate(Call& call) {
  const auto length = static_cast<off_t>(call.arg(1));
  if (length < 0) return Reply::error(EINVAL);
  Found found;
  if (auto no = find(call, path(call.arg(0)), Kind::kWrite, &found)) return std::move(*no);
  if (S_ISDIR(found.type)) return Reply::error(EISDIR);
  if (!S_ISREG(found.type)) return Reply::error(EINVAL);
  if (!found.is_path) return Reply::error(EACCES);
  // What is left of git's file that says where a folder is names another one.
  if (auto no = refuse_above_block(call, found.canonical, found.type)) return std::move(*no);
  return result(::truncate(OwnLink(found.fd.get()).text, length));
}

Reply serve_times(Call& call) {
  Target target;
  uint64_t address = 0;
  switch (call.number()) {
    case __NR_utime:
    case __NR_utimes:
      target = path(call.arg(0));
      address = call.arg(1);
      break;
    case __NR_futimesat:
      target =
          call.arg(1) == 0 ? descriptor(call.fd_arg(0)) : path_at(call.fd_arg(0), call.arg(1), 0);
      address = call.arg(2);
      break;
    default: {
      const uint32_t flags = call.flags_arg(3);
      if ((flags & ~static_cast<uint32_t>(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return Reply::error(EINVAL);
      if (call.arg(1) == 0) {
        if (flags != 0) return Reply::error(EINVAL);
        target = descriptor(call.fd_arg(0));
      } else {
        target = path_at(call.fd_arg(0), call.arg(1), flags);
      }
      address = call.arg(2);
      break;
    }
  }
  if (target.by_descriptor && target.folder == AT_FDCWD) return Reply::error(EFAULT);
  timespec times[2];
  bool given = false;
  if (const int error = read_times(call, address, times, &given); error != 0)
    return Reply::error(error);
  Found found;
  if (auto no = find(call, target, Kind::kWriteStatus, &found)) return std::move(*no);
  if (given)  // now is what every writer may set
    if (auto no = refuse_device(call, found.is_path, found.canonical, found.type))
      return std::move(*no);
  // glibc's wrapper refuses an empty path; the kernel takes it with AT_EMPTY_PATH since 5.8.
  return result(syscall(SYS_utimensat, found.fd.get(), "", given ? times : nullptr, AT_EMPTY_PATH));
}

Reply serve_xattr(Call& call) {
  Target target;
  uint64_t name_at = call.arg(1);
  uint64_t value_at = call.arg(2);
  uint64_t size = call.arg(3);
  int flags = call.fd_arg(4);
  bool removing = false;
  switch (call.number()) {
    case __NR_removexattr:
      removing = true;
      [[fallthrough]];
    case __NR_setxattr:
      target = path(call.arg(0));
      break;
    case __NR_lremovexattr:
      removing = true;
      [[fallthrough]];
    case __NR_lsetxattr:
      target = path(call.arg(0), Follow::kNo);
      break;
    case __NR_fremovexattr:
      removing = true;
      [[fallthrough]];
    case __NR_fsetxattr:
      target = descriptor(call.fd_arg(0));
      break;
    default: {  // setxattrat, removexattrat
      const uint32_t at_flags = call.flags_arg(2);
      if ((at_flags & ~static_cast<uint32_t>(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return Reply::error(EINVAL);
      target = path_at(call.fd_arg(0), call.arg(1), at_flags);
      name_at = call.arg(3);
      removing = call.number() == __NR_removexattrat;
      if (!removing) {
        struct {
          uint64_t value;
          uint32_t size;
          uint32_t flags;
        } given{};
        if (call.arg(5) < sizeof given) return Reply::error(EINVAL);
        if (!call.memory().read(call.arg(4), &given, sizeof given).ok())
          return Reply::error(EFAULT);
        value_at = given.value;
        size = given.size;
        flags = static_cast<int>(given.flags);
      }
      break;
    }
  }
  if (!removing && (flags & ~(XATTR_CREATE | XATTR_REPLACE)) != 0) return Reply::error(EINVAL);
  auto name = call.memory().read_string(name_at, XATTR_NAME_MAX + 1);
  if (!name.ok())
    return Reply::error(name.error().errno_value == ENAMETOOLONG ? ERANGE
                                                                 : name.error().errno_value);
  if (name->empty()) return Reply::error(ERANGE);
  if (removing) size = 0;  // another argument, or none
  if (size > XATTR_SIZE_MAX) return Reply::error(E2BIG);
  std::vector<char> value(size);
  if (!value.empty() && !call.memory().read(value_at, value.data(), value.size()).ok())
    return Reply::error(EFAULT);

  Found found;
  if (auto no = find(call, target, Kind::kWriteStatus, &found)) return std::move(*no);
  if (auto no = refuse_device(call, found.is_path, found.canonical, found.type))
    return std::move(*no);
  // trusted.* and security.* (file capabilities) take privileges that a compartment does not have,
  // and the supervisor might.
  if (name->starts_with("trusted.") || name->starts_with("security.")) return Reply::error(EPERM);
  // The link to our descriptor leads to a symlink's target, and a symlink takes no user.* or ACL.
  if (S_ISLNK(found.type)) return Reply::error(name->starts_with("user.") ? EPERM : EOPNOTSUPP);
  const OwnLink link(found.fd.get());
  if (removing) return result(::removexattr(link.text, name->c_str()));
  // The kernel would charge their memory to us, and counts a memfd's nowhere. As before Linux 6.6.
  if (call.service().plan.limits.memory && is_in_memory(found.fd.get()))
    return Reply::error(EOPNOTSUPP);
  note_taken(call, found.fd.get(), value.size());
  return result(::setxattr(link.text, name->c_str(), value.data(), value.size(), flags));
}

// What programs keep in user.* is content as good as a file's own: the address that a file was
// downloaded from, with its token, stands there. The kernel's own attributes (labels, capabilities,
// access lists) are status, and so is every length (the filter lets those pass). The name is in
// memory, so never CONTINUE.
Reply serve_get_xattr(Call& call) {
  Target target;
  uint64_t name_at = call.arg(1);
  uint64_t value_at = call.arg(2);
  uint64_t size = call.arg(3);
  Fd own;
  switch (call.number()) {
    case __NR_getxattr:
      target = path(call.arg(0));
      break;
    case __NR_lgetxattr:
      target = path(call.arg(0), Follow::kNo);
      break;
    case __NR_fgetxattr: {
      target = descriptor(call.fd_arg(0));
      auto borrowed = call.service().processes.borrow(call.tid(), target.folder);
      if (!borrowed.ok()) return Reply::error(borrowed.error().errno_value);
      const int mode = ::fcntl(borrowed->get(), F_GETFL);
      if (mode < 0 || (mode & O_PATH) != 0) return Reply::error(EBADF);
      // Whoever may read the file from this descriptor may read what hangs on it.
      if ((mode & O_ACCMODE) != O_WRONLY) own = std::move(*borrowed);
      break;
    }
    default: {  // getxattrat
      const uint32_t at_flags = call.flags_arg(2);
      if ((at_flags & ~static_cast<uint32_t>(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return Reply::error(EINVAL);
      target = path_at(call.fd_arg(0), call.arg(1), at_flags);
      name_at = call.arg(3);
      struct {
        uint64_t value;
        uint32_t size;
        uint32_t flags;
      } given{};
      if (call.arg(5) < sizeof given) return Reply::error(EINVAL);
      if (!call.memory().read(call.arg(4), &given, sizeof given).ok()) return Reply::error(EFAULT);
      if (given.flags != 0) return Reply::error(EINVAL);
      value_at = given.value;
      size = given.size;
      break;
    }
  }
  auto name = call.memory().read_string(name_at, XATTR_NAME_MAX + 1);
  if (!name.ok())
    return Reply::error(name.error().errno_value == ENAMETOOLONG ? ERANGE
                                                                 : name.error().errno_value);
  if (name->empty()) return Reply::error(ERANGE);
  std::vector<char> value(std::min<uint64_t>(size, XATTR_SIZE_MAX));
  ssize_t length = 0;
  // trusted.* is for privileges that a compartment does not have, and the supervisor might.
  const bool trusted = name->starts_with("trusted.");
  if (own) {
    if (trusted) return Reply::error(ENODATA);
    length = ::fgetxattr(own.get(), name->c_str(), value.data(), value.size());
  } else {
    Found found;
    Spelling spelling;
    auto no = name->starts_with("user.") ? find(call, target, Kind::kRead, &found)
                                         : locate(call, target, &found, &spelling);
    if (no) return std::move(*no);
    // The link to our descriptor leads to a symlink's target, and a symlink has no user.* or ACL.
    if (trusted) return Reply::error(ENODATA);
    if (S_ISLNK(found.type))
      return Reply::error(
          name->starts_with("user.") || name->starts_with("security.") ? ENODATA : EOPNOTSUPP);
    length = ::getxattr(OwnLink(found.fd.get()).text, name->c_str(), value.data(), value.size());
  }
  if (length < 0) return Reply::error(errno);
  if (size != 0) {
    const int error = call.write(value_at, value.data(), static_cast<size_t>(length));
    if (error != 0) return Reply::error(error);
  }
  return Reply::value(length);
}

}  // namespace bulkhead
