#include "sandbox/caller/walker.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "base/path.h"
#include "sandbox/caller/caller.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

// What the kernel's own way through links counts as (Caller::spend): it ends after 40 of them.
constexpr uint32_t kSlowSteps = 500;
// A path that is looked up from the root on has about one step in so many letters.
constexpr size_t kLettersAStep = 8;

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Walker::Way way_barred_by(int error) {
  return error == ELOOP    ? Walker::Way::kSymlink
         : error == ENOENT ? Walker::Way::kMissing
                           : Walker::Way::kBarred;
}

// Which mount a descriptor is on; 0: not known.
uint64_t mount_of(int fd) {
  struct statx about {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &about) != 0) return 0;
  return about.stx_mnt_id;
}

bool only_slashes(std::string_view text) {
  return text.find_first_not_of('/') == std::string_view::npos;
}

}  // namespace

std::optional<ProcPlace> parse_proc(std::string_view canonical) noexcept {
  constexpr std::string_view kProc = "/proc/";
  if (canonical.substr(0, kProc.size()) != kProc) return std::nullopt;
  const char* const from = canonical.data() + kProc.size();
  const char* const end = canonical.data() + canonical.size();
  ProcPlace place;
  const auto parsed = std::from_chars(from, end, place.inner_process);
  if (parsed.ec != std::errc() || place.inner_process <= 0) return std::nullopt;
  if (parsed.ptr != end && *parsed.ptr != '/') return std::nullopt;
  place.rest = std::string_view(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  return place;
}

int Walker::read_path(const Caller& caller, uint64_t address, std::string* path) const {
  auto text = caller.memory().read_string(address, PATH_MAX);
  if (!text.ok()) return text.error().errno_value;
  *path = std::move(text).value();
  return 0;
}

int Walker::spell(const Caller& caller, int folder, std::string_view path,
                  Spelling* spelling) const {
  if (path.empty()) return ENOENT;
  std::string& text = spelling->text;
  text.clear();
  spelling->parents = false;
  spelling->no_magic = false;
  if (path[0] != '/') {
    char link[64];
    if (folder == AT_FDCWD)
      std::snprintf(link, sizeof link, "/proc/%d/cwd", caller.tid());
    else if (folder >= 0)
      std::snprintf(link, sizeof link, "/proc/%d/fd/%d", caller.tid(), folder);
    else
      return EBADF;
    if (const int error =
            folder == AT_FDCWD ? folders_.read(caller.tid(), &text) : read_proc_link(link, &text);
        error != 0)
      return error == ENOENT ? (folder == AT_FDCWD ? ESRCH : EBADF) : error;
    if (text.empty() || text[0] != '/') return ENOTDIR;  // a pipe, a socket
    if (text.ends_with(kDeleted)) {
      // Either removed, or really named so.
      struct stat named {
      }, held{};
      if (::fstatat(root_, text.c_str() + 1, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
          ::stat(link, &held) != 0 || !same_file(named, held))
        return ENOENT;
    }
    if (text == "/") text.clear();
  }
  text.reserve(text.size() + path.size() + 24);
  Tail tail = Tail::kName;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view component = take_component(&rest);
    if (component.empty()) {
      tail = tail == Tail::kName ? Tail::kSlash : tail;
      continue;
    }
    if (component == ".") {
      tail = Tail::kDot;
      continue;
    }
    tail = Tail::kName;
    if (component == "..") {
      spelling->parents = true;
      tail = Tail::kDotDot;
    }
    text += '/';
    text += component;
  }
  if (path.back() == '/' && tail == Tail::kName) tail = Tail::kSlash;
  if (text.empty()) {
    text = "/";
    if (tail == Tail::kName || tail == Tail::kSlash) tail = Tail::kDot;  // "/" has no last name
  }
  spelling->tail = tail;
  // "/proc/self" is the supervisor's own for the supervisor (kernel.md, trap 4).
  constexpr std::string_view kSelf = "/proc/self";
  constexpr std::string_view kThread = "/proc/thread-self";
  const bool self =
      text.starts_with(kSelf) && text.size() > kSelf.size() && text[kSelf.size()] == '/';
  const bool thread =
      text.starts_with(kThread) && text.size() > kThread.size() && text[kThread.size()] == '/';
  if (self || thread) {
    const auto status = processes_.status(caller.tid());
    if (!status) return ESRCH;
    std::string own = "/proc/" + std::to_string(status->inner_process);
    if (thread) own += "/task/" + std::to_string(status->inner_thread);
    text.replace(0, self ? kSelf.size() : kThread.size(), own);
  }
  return 0;
}

int Walker::FolderLinks::read(pid_t tid, std::string* text) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[static_cast<size_t>(tid) % entries_.size()];
  if (entry.tid == tid && entry.link) {
    char buffer[PATH_MAX];
    const ssize_t n = ::readlinkat(entry.link.get(), "", buffer, sizeof buffer);
    if (n >= 0 && n < PATH_MAX) {
      text->assign(buffer, static_cast<size_t>(n));
      return 0;
    }
  }
  char link[32];
  std::snprintf(link, sizeof link, "/proc/%d/cwd", tid);
  const bool again = entry.tid == tid;
  entry = {tid, Fd(again ? ::open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1)};
  return read_proc_link(link, text);
}

Status Walker::has_home(const PrivateHome& home) {
  home_folder_.reset(openat2_raw(root_, home.home().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
                                 RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS));
  home_mount_ = home_folder_ ? mount_of(home_folder_.get()) : 0;
  if (home_mount_ == 0) return errno_error("find the private home");
  home_ = &home;
  return {};
}

// 0, or an errno where the name says that it is the program's own and it is not: a folder of the
// store in which something of the machine's is mounted has another name by now.
int Walker::refuse_strayed(const Found& found) const {
  if (home_ == nullptr || !found.is_path || !found.fd || !home_->holds(found.canonical)) return 0;
  return mount_of(found.fd.get()) == home_mount_ ? 0 : EXDEV;
}

int Walker::open_exact(const std::string& canonical, int flags, mode_t mode, Fd* fd) const {
  if (home_ != nullptr && home_->holds(canonical)) {
    const std::string own = "." + canonical.substr(home_->home().size());
    const int opened = openat2_raw(home_folder_.get(), own.c_str(), flags | O_CLOEXEC, mode,
                                   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
    if (opened < 0) return errno;
    fd->reset(opened);
    return 0;
  }
  // RESOLVE_IN_ROOT takes "/a" as below root_.
  const int opened = openat2_raw(root_, canonical.c_str(), flags | O_CLOEXEC, mode,
                                 RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  if (opened < 0) return errno;
  fd->reset(opened);
  return 0;
}

bool Walker::is_named(int fd, const std::string& canonical, uint64_t before) const {
  if (changes() == before) return true;
  std::string name;
  return read_own_link(fd, &name) == 0 && name == canonical;
}

bool Walker::ClearPaths::holds(std::string_view text, const Since& since) const {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return false;
  const Entry& entry = entries_[index_of(text)];
  return entry.since == since && entry.text == text;
}

void Walker::ClearPaths::add(std::string_view text, const Since& since) {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) entries_.resize(kEntries);
  Entry& entry = entries_[index_of(text)];
  entry.text = text;
  entry.since = since;
}

void Walker::ClearPaths::clear() {
  const std::lock_guard lock(mutex_);
  std::vector<Entry>().swap(entries_);
}

void Walker::FolderLinks::clear() {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) entry = {};
}

Walker::Way Walker::way_to(const Spelling& spelling, Follow last) const {
  if (spelling.parents) return Way::kSymlink;
  const std::string& text = spelling.text;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const ClearPaths::Since since{changes(), now.tv_sec};
  const bool follow = last == Follow::kYes || spelling.folder();
  if (!follow) {
    Fd fd;
    const int error = open_exact(text, O_PATH | O_NOFOLLOW, 0, &fd);
    return error == 0 ? Way::kClear : way_barred_by(error);
  }
  if (clear_.holds(text, since)) return Way::kClear;
  const std::string_view parent = parent_of(text);
  if (text.size() > 1 && clear_.holds(parent, since)) {
    // Only the last name can be a symlink, and stat costs less than opening and closing.
    struct stat about {};
    if (::fstatat(root_, text.c_str() + 1, &about, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
      return way_barred_by(errno);
    if (S_ISLNK(about.st_mode)) return Way::kSymlink;
    if (spelling.folder() && !S_ISDIR(about.st_mode)) return Way::kBarred;
  } else {
    Fd fd;
    const int error = open_exact(text, O_PATH | (spelling.folder() ? O_DIRECTORY : 0), 0, &fd);
    if (error != 0) return way_barred_by(error);
    clear_.add(parent, since);
  }
  clear_.add(text, since);
  return Way::kClear;
}

int Walker::resolve(const Caller& caller, const Spelling& spelling, Follow last,
                    Found* found) const {
  found->fd.reset();
  found->canonical.clear();
  found->is_path = true;
  found->held.reset();
  const bool folder = spelling.folder();
  // "link/" follows the link whatever the flags say, path_resolution(7).
  const bool follow = last == Follow::kYes || folder;
  const int flags = O_PATH | (follow ? 0 : O_NOFOLLOW) | (folder ? O_DIRECTORY : 0);
  if (!spelling.parents) {
    const uint64_t before = changes();
    const int error = open_exact(spelling.text, flags, 0, &found->fd);
    if (error == 0) {
      found->canonical = spelling.text;
      return is_named(found->fd.get(), spelling.text, before) ? 0 : name_found(found);
    }
    if (error == ENOENT) {
      // Without a symlink on the way this is the truth; is at least the folder there?
      Fd parent;
      const std::string above(parent_of(spelling.text));
      if (open_exact(above, O_PATH | O_DIRECTORY, 0, &parent) == 0)
        found->canonical = spelling.text;
      return ENOENT;
    }
    if (error != ELOOP) return error;
  }
  if (!caller.spend(kSlowSteps)) return ELOOP;
  const int fd = openat2_raw(root_, spelling.text.c_str(), flags | O_CLOEXEC, 0,
                             RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  if (fd >= 0) {
    found->fd.reset(fd);
    return name_found(found);
  }
  const int error = errno;
  if (error == ELOOP || error == ENOENT || error == EXDEV || error == EAGAIN)
    return walk(caller, spelling, follow ? Follow::kYes : Follow::kNo, found);
  return error;
}

// Fills in the canonical path of found->fd, which was opened by some name just now. ENOENT where it
// has none any more: the kernel then tells the old one with a suffix, which no rule speaks of.
int Walker::name_found(Found* found) const {
  if (const int error = read_own_link(found->fd.get(), &found->canonical); error != 0) return error;
  if (!found->canonical.ends_with(kDeleted)) return refuse_strayed(*found);
  // Or it is named so.
  find_again(found->canonical, std::move(found->fd), found);
  if (found->is_path) return 0;
  *found = {};
  return ENOENT;
}

// Sees whether `text` names in the compartment what `fd` is. If so, found holds it as opened by
// that name; if not, found holds `fd`, which no path can be decided for.
int Walker::find_again(std::string text, Fd fd, Found* found) const {
  found->canonical = std::move(text);
  if (is_canonical(found->canonical)) {
    Fd named;
    struct stat a {
    }, b{};
    if (open_exact(found->canonical, O_PATH | O_NOFOLLOW, 0, &named) == 0 &&
        ::fstat(named.get(), &a) == 0 && ::fstat(fd.get(), &b) == 0 && same_file(a, b)) {
      found->fd = std::move(named);
      found->is_path = true;
      return 0;
    }
  }
  found->fd = std::move(fd);
  found->is_path = false;
  return 0;
}

int Walker::resolve_descriptor(const Caller& caller, int number, Found* found) const {
  if (number != AT_FDCWD) return resolve_held(caller.tid(), number, found);
  char link[64];
  std::snprintf(link, sizeof link, "/proc/%d/cwd", caller.tid());
  std::string text;
  Fd fd(::open(link, O_PATH | O_CLOEXEC));
  if (!fd) return errno == ENOENT || errno == ESRCH ? EBADF : errno;
  if (const int error = read_own_link(fd.get(), &text); error != 0) return error;
  found->held.reset();
  return find_again(std::move(text), std::move(fd), found);
}

// What a thread's descriptor is and how it is held, both of one open file: by the time that its
// number was looked at twice, another thread could have put something else there.
int Walker::resolve_held(pid_t tid, int number, Found* found) const {
  if (number < 0) return EBADF;
  auto own = processes_.borrow(tid, number);
  if (!own.ok()) {
    const int error = own.error().errno_value;
    return error == EPERM ? EACCES : error == ESRCH ? EBADF : error;
  }
  const int flags = ::fcntl(own->get(), F_GETFL);
  std::string text;
  if (const int error = read_own_link(own->get(), &text); error != 0) return error;
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", own->get());
  Fd fd(::open(link, O_PATH | O_CLOEXEC));
  if (flags < 0 || !fd) return errno;
  found->held = flags;
  return find_again(std::move(text), std::move(fd), found);
}

// A link of proc that is no text to follow but a jump: `link` is "/proc/N/…" (canonical). Returns 0
// with *target set to where to go on, or with found filled (only for `last`), or an errno.
int Walker::follow_magic(const Caller& caller, const std::string& link, int link_fd, bool last,
                         std::string* target, Found* found) const {
  const auto place = parse_proc(link);
  std::string_view rest = place->rest;
  pid_t inner = place->inner_process;
  // "/task/M/cwd" as "/cwd".
  constexpr std::string_view kTask = "/task/";
  if (rest.starts_with(kTask)) {
    rest.remove_prefix(kTask.size());
    const size_t slash = std::min(rest.find('/'), rest.size());
    (void)std::from_chars(rest.data(), rest.data() + slash, inner);
    rest.remove_prefix(slash);
  }
  if (place->inner_process == 1) return EACCES;
  if (rest == "/root") {  // nobody can chroot inside
    *target = "/";
    return 0;
  }
  if (rest == "/cwd" || rest == "/exe") {
    char buffer[PATH_MAX];
    const ssize_t n = ::readlinkat(link_fd, "", buffer, sizeof buffer);
    if (n < 0) return errno;
    if (n == 0 || buffer[0] != '/') return ENOENT;
    target->assign(buffer, static_cast<size_t>(n));  // found again by name: removed is not there
    return 0;
  }
  constexpr std::string_view kDescriptors = "/fd/";
  if (!rest.starts_with(kDescriptors)) return EACCES;  // map_files, ns
  rest.remove_prefix(kDescriptors.size());
  int number = -1;
  (void)std::from_chars(rest.data(), rest.data() + rest.size(), number);
  // The supervisor may follow what the caller may: both see only processes of the compartment
  // here, which may all look at each other.
  const auto holder = processes_.outer(caller.tid(), inner);
  if (!holder) return ENOENT;
  Found again;
  if (const int error = resolve_held(*holder, number, &again); error != 0)
    return error == EBADF ? ENOENT : error;
  // Still the same: its number was not given to a process outside before we looked.
  if (processes_.outer(caller.tid(), inner) != holder) return ENOENT;
  if (!last) {
    if (!again.is_path) return EACCES;
    *target = std::move(again.canonical);
    return 0;
  }
  *found = std::move(again);
  return 0;
}

int Walker::walk(const Caller& caller, const Spelling& spelling, Follow last, Found* found) const {
  const bool folder = spelling.folder();
  found->canonical.clear();
  found->fd.reset();
  std::string done;  // canonical so far, "" for "/"
  Fd at;             // the same, unless it was come to by ".." or from the root
  std::string todo = spelling.text;
  int links = 0;
  std::optional<ThreadStatus> status;
  while (!only_slashes(todo)) {
    std::string_view rest = todo;
    const std::string component(take_component(&rest));
    std::string remaining(rest);
    const bool at_end = only_slashes(remaining);
    const bool slash_after = folder || !remaining.empty();
    if (component == ".") {
      todo = std::move(remaining);
      continue;
    }
    if (component == "..") {
      done = std::string(parent_of(done.empty() ? "/" : done));
      if (done == "/") done.clear();
      at.reset();
      todo = std::move(remaining);
      continue;
    }
    const std::string here = entry_path(done, component);
    if (!caller.spend(at ? 1 : 1 + static_cast<uint32_t>(here.size() / kLettersAStep)))
      return ELOOP;
    Fd fd(at ? ::openat(at.get(), component.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1);
    if (const int error = fd   ? 0
                          : at ? errno
                               : open_exact(here, O_PATH | O_NOFOLLOW, 0, &fd);
        error != 0) {
      if (error == ENOENT && at_end) found->canonical = here;
      return error;
    }
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return errno;
    if (!S_ISLNK(about.st_mode)) {
      if ((!at_end || slash_after) && !S_ISDIR(about.st_mode)) return ENOTDIR;
      done = here;
      at = std::move(fd);
      todo = std::move(remaining);
      continue;
    }
    if (at_end && !slash_after && last == Follow::kNo) {
      found->fd = std::move(fd);
      found->canonical = here;
      return refuse_strayed(*found);
    }
    if (++links > kMostLinks) return ELOOP;
    std::string target;
    if (here == "/proc/self" || here == "/proc/thread-self") {
      if (!status) status = processes_.status(caller.tid());
      if (!status) return ESRCH;
      target = "/proc/" + std::to_string(status->inner_process);
      if (here != "/proc/self") target += "/task/" + std::to_string(status->inner_thread);
    } else if (parse_proc(here)) {
      if (spelling.no_magic) return ELOOP;
      Found jumped;
      if (const int error = follow_magic(caller, here, fd.get(), at_end, &target, &jumped);
          error != 0)
        return error;
      if (jumped.fd) {
        if (slash_after) {
          struct stat there {};
          if (::fstat(jumped.fd.get(), &there) != 0) return errno;
          if (!S_ISDIR(there.st_mode)) return ENOTDIR;
        }
        *found = std::move(jumped);
        return 0;
      }
    } else {
      char buffer[PATH_MAX];
      const ssize_t n = ::readlinkat(fd.get(), "", buffer, sizeof buffer);
      if (n < 0) return errno;
      target.assign(buffer, static_cast<size_t>(n));
      if (target.empty()) return ENOENT;
    }
    if (target[0] == '/') {
      done.clear();
      at.reset();
    }
    if (target.size() + remaining.size() >= size_t{4} * PATH_MAX) return ENAMETOOLONG;
    todo = target + remaining;
    if (at_end && slash_after && todo.back() != '/') todo += '/';
  }
  found->fd = std::move(at);
  const int flags = O_PATH | O_NOFOLLOW | (folder ? O_DIRECTORY : 0);
  if (!found->fd)
    if (const int error = open_exact(done.empty() ? "/" : done, flags, 0, &found->fd); error != 0)
      return error;
  return name_found(found);
}

int Walker::resolve_entry(const Caller& caller, const Spelling& spelling, FoundEntry* entry) const {
  entry->tail = spelling.tail;
  entry->name.clear();
  if (spelling.tail == Tail::kDot || spelling.tail == Tail::kDotDot) {
    Found folder;
    Spelling whole = spelling;
    whole.tail = Tail::kSlash;
    if (const int error = resolve(caller, whole, Follow::kYes, &folder); error != 0) return error;
    entry->folder = std::move(folder.fd);
    entry->canonical = std::move(folder.canonical);
    return 0;
  }
  const size_t slash = spelling.text.rfind('/');
  Spelling above;
  above.text = slash == 0 ? "/" : spelling.text.substr(0, slash);
  above.tail = Tail::kSlash;
  above.parents = spelling.parents;
  entry->name = spelling.text.substr(slash + 1);
  const uint64_t before = changes();
  if (!above.parents && open_exact(above.text, O_PATH | O_DIRECTORY, 0, &entry->folder) == 0 &&
      is_named(entry->folder.get(), above.text, before)) {
    entry->canonical = spelling.text;
  } else {
    Found folder;
    if (const int error = resolve(caller, above, Follow::kYes, &folder); error != 0) return error;
    if (!folder.is_path) return EACCES;
    entry->folder = std::move(folder.fd);
    entry->canonical = entry_path(folder.canonical, entry->name);
  }
  if (spelling.tail == Tail::kSlash) entry->name += '/';
  return 0;
}

int Walker::look(Found* found) {
  struct stat about {};
  if (::fstat(found->fd.get(), &about) != 0) return errno;
  found->type = about.st_mode & S_IFMT;
  found->links = about.st_nlink;
  return 0;
}

bool Walker::is_foreign_proc(std::string_view canonical) const noexcept {
  return std::any_of(foreign_proc_.begin(), foreign_proc_.end(),
                     [&](const std::string& place) { return is_within(canonical, place); });
}

}  // namespace bulkhead
