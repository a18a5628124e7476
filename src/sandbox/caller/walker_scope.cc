// openat2's RESOLVE_* flags of the caller.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <string_view>

#include "base/path.h"
#include "sandbox/caller/walker.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

int Walker::resolve_scoped(const Caller& caller, int folder, std::string_view path, uint64_t scope,
                           Follow last, Found* found) const {
  found->canonical.clear();
  if (path.empty()) return ENOENT;
  // Documented as "try again without": openat2(2).
  if (scope & RESOLVE_CACHED) return EAGAIN;
  if ((scope & RESOLVE_BENEATH) && path[0] == '/') return EXDEV;
  Spelling base;
  Found start;
  if (const int error = spell(caller, folder, ".", &base); error != 0) return error;
  if (const int error = resolve(caller, base, Follow::kYes, &start); error != 0) return error;
  if ((scope & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) == 0)
    return resolve_unbounded(caller, folder, path, scope, start, last, found);

  // Bounded, so the kernel can be left to it: no link leads to the supervisor's own root.
  std::string text(path);
  const uint64_t resolve_flags = scope | RESOLVE_NO_MAGICLINKS;
  for (int links = 0; links <= kMostLinks; ++links) {
    const int flags = O_PATH | O_CLOEXEC | (last == Follow::kNo ? O_NOFOLLOW : 0);
    const int fd = openat2_raw(start.fd.get(), text.c_str(), flags, 0, resolve_flags);
    if (fd >= 0) {
      found->fd.reset(fd);
      const int error = name_found(found);
      if (error == ENOENT) continue;  // written anew meanwhile: it is there again
      return error;
    }
    if (errno != ENOENT) return errno;
    // For creating: the folder of what is missing, under the same rules.
    const size_t slash = text.rfind('/');
    const std::string above = slash == std::string::npos ? "./" : text.substr(0, slash + 1);
    const std::string name = slash == std::string::npos ? text : text.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") return ENOENT;
    const Fd parent(openat2_raw(start.fd.get(), above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
                                resolve_flags));
    std::string canonical;
    if (!parent || read_own_link(parent.get(), &canonical) != 0) return ENOENT;
    char target[PATH_MAX];
    const ssize_t n = ::readlinkat(parent.get(), name.c_str(), target, sizeof target);
    if (n < 0) {
      found->canonical = entry_path(canonical, name);
      return ENOENT;
    }
    // A dangling symlink: what it names is missing.
    const std::string_view link(target, static_cast<size_t>(n));
    text = link.starts_with('/') ? std::string(link) : above + std::string(link);
    if (text.size() >= PATH_MAX) return ENAMETOOLONG;
  }
  return ELOOP;
}

// Flags that restrict how, but not where: an absolute link leads to the compartment's root, which
// openat2 cannot be told together with a starting folder, so the supervisor's own ways are taken.
int Walker::resolve_unbounded(const Caller& caller, int folder, std::string_view path,
                              uint64_t scope, const Found& start, Follow last, Found* found) const {
  Spelling spelling;
  if (const int error = spell(caller, folder, path, &spelling); error != 0) return error;
  spelling.no_magic = true;  // implied by RESOLVE_NO_SYMLINKS, and a jump leaves the mount
  int error = 0;
  if (scope & RESOLVE_NO_SYMLINKS) {
    const int flags = O_PATH | O_CLOEXEC | (last == Follow::kNo ? O_NOFOLLOW : 0) |
                      (spelling.folder() ? O_DIRECTORY : 0);
    const int fd =
        openat2_raw(root_, spelling.text.c_str(), flags, 0, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
    if (fd < 0) {
      error = errno;
      const std::string above(parent_of(spelling.text));
      Fd parent;
      if (error == ENOENT && !spelling.parents &&
          open_exact(above, O_PATH | O_DIRECTORY, 0, &parent) == 0)
        found->canonical = spelling.text;
    } else {
      found->fd.reset(fd);
      error = name_found(found);
    }
  } else {
    error = resolve(caller, spelling, last, found);
  }
  if (error == 0 && (scope & RESOLVE_NO_XDEV) != 0) {
    struct statx from {
    }, to{};
    if (::statx(start.fd.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &from) != 0 ||
        ::statx(found->fd.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &to) != 0)
      return errno;
    if (from.stx_mnt_id != to.stx_mnt_id) return EXDEV;
  }
  return error;
}

std::vector<std::string> foreign_proc_mounts(std::string_view mountinfo) {
  std::vector<std::string> result;
  while (!mountinfo.empty()) {
    size_t end = mountinfo.find('\n');
    if (end == std::string_view::npos) end = mountinfo.size();
    std::string_view line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    // proc(5): ID parent major:minor root MOUNTPOINT options … - TYPE source options
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos || line.substr(dash + 3, 5) != "proc ") continue;
    for (int i = 0; i < 4; ++i) {
      const size_t blank = line.find(' ');
      line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
    }
    line = line.substr(0, line.find(' '));
    std::string place;
    for (size_t i = 0; i < line.size(); ++i) {
      const auto digit = [&](size_t at) {
        return at < line.size() && line[at] >= '0' && line[at] <= '7';
      };
      if (line[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
        place += static_cast<char>((line[i + 1] - '0') * 64 + (line[i + 2] - '0') * 8 +
                                   (line[i + 3] - '0'));
        i += 3;
      } else {
        place += line[i];
      }
    }
    // Below /proc there are only the binds that containers put over parts of their own.
    if (place != "/proc" && place.substr(0, 6) != "/proc/") result.push_back(std::move(place));
  }
  return result;
}

}  // namespace bulkhead
