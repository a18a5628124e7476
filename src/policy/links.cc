#include "policy/links.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>

#include "base/fd.h"
#include "base/path.h"

namespace bulkhead {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel: path_resolution(7)

enum class OnTheWay { kNoLink, kMaybeAtTheEnd, kMaybe };

// One system call tells the usual case: no link on the way, or nothing there beyond some point and
// no link before it.
OnTheWay links_on_the_way(const std::string& path) {
  struct open_how how {};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const Fd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  // O_PATH|O_NOFOLLOW opens a link that is the last component, also with RESOLVE_NO_SYMLINKS
  // (openat2(2)).
  if (fd.valid()) return OnTheWay::kMaybeAtTheEnd;
  // A link before the missing part would have been met first, with ELOOP.
  return errno == ENOENT ? OnTheWay::kNoLink : OnTheWay::kMaybe;
}

}  // namespace

std::string follow_links(const std::string& path) {
  if (path.find('\0') != std::string::npos) return path;
  int links = 0;
  std::string done;         // followed so far; empty stands for "/"
  std::string rest = path;  // yet to do, starting with "/"
  switch (links_on_the_way(path)) {
    case OnTheWay::kNoLink:
      return path;
    case OnTheWay::kMaybe:
      break;
    case OnTheWay::kMaybeAtTheEnd:
      done = std::string(parent_of(path));
      if (done == "/") done.clear();
      rest = "/" + std::string(last_of(path));
      break;
  }
  while (rest.size() > 1) {
    const size_t end = rest.find('/', 1);
    const std::string component = rest.substr(1, end == std::string::npos ? end : end - 1);
    rest = end == std::string::npos ? "" : rest.substr(end);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      done = std::string(parent_of(done.empty() ? "/" : done));
      if (done == "/") done.clear();
      continue;
    }
    const std::string here = done + "/" + component;
    char target[PATH_MAX];
    const ssize_t length = ::readlink(here.c_str(), target, sizeof target);
    if (length < 0 || length == sizeof target) {  // no link, not there, or not for us to see
      done = here;
      continue;
    }
    if (++links > kMaxLinks) return path;
    const std::string_view to(target, static_cast<size_t>(length));
    // Magic links of /proc name no path ("pipe:[1]") or one of this process: keep them as they are.
    if (is_within(here, "/proc")) {
      done = here;
      continue;
    }
    if (to.substr(0, 1) == "/") done.clear();
    rest = "/" + std::string(to) + rest;
  }
  return done.empty() ? "/" : done;
}

LinkFollower::Folder LinkFollower::look(const std::string& path) {
  if (path == "/") return Folder::kThere;
  if (const auto known = folders_.find(path); known != folders_.end()) return known->second;
  Folder folder = look(std::string(parent_of(path)));
  if (folder == Folder::kThere) {
    char target[1];
    if (::readlink(path.c_str(), target, sizeof target) >= 0)
      folder = Folder::kLinked;
    else if (errno == ENOENT)
      folder = Folder::kMissing;
    else if (errno != EINVAL)  // EINVAL: there, and no link
      folder = Folder::kLinked;
  }
  folders_.emplace(path, folder);
  return folder;
}

std::string LinkFollower::follow(const std::string& path) {
  if (path.find('\0') != std::string::npos || !is_canonical(path)) return follow_links(path);
  return look(path) == Folder::kLinked ? follow_links(path) : path;
}

}  // namespace bulkhead
