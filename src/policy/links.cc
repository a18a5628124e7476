#include "policy/links.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/fd.h"
#include "base/path.h"

namespace bulkhead {

bool has_no_links(const std::string& path) {
  if (path.find('\0') != std::string::npos || !is_canonical(path)) return false;
  struct open_how how {};
  // Without O_NOFOLLOW, by which a link that is the last component would be opened (openat2(2)).
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const Fd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  // A link before the missing part would have been met first, with ELOOP.
  return fd.valid() || errno == ENOENT;
}

std::string follow_links(const std::string& path) {
  std::vector<std::string> passed;
  return follow_links(path, passed);
}

std::string follow_links(const std::string& path, std::vector<std::string>& passed) {
  if (path.find('\0') != std::string::npos || has_no_links(path)) return path;
  int links = 0;
  std::string done;         // followed so far; empty stands for "/"
  std::string rest = path;  // yet to do, starting with "/"
  while (!rest.empty()) {
    std::string_view after = rest;
    const std::string component(take_component(&after));
    rest.erase(0, rest.size() - after.size());
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      done = std::string(parent_of(done.empty() ? "/" : done));
      if (done == "/") done.clear();
      continue;
    }
    std::string here = done;
    here.append("/").append(component);
    char target[PATH_MAX];
    const ssize_t length = ::readlink(here.c_str(), target, sizeof target);
    if (length < 0 || length == sizeof target) {  // no link, not there, or not for us to see
      done = here;
      continue;
    }
    if (++links > kMostLinks) return path;
    const std::string_view to(target, static_cast<size_t>(length));
    // Magic links of /proc name no path ("pipe:[1]") or one of this process: keep them as they are.
    if (is_within(here, "/proc")) {
      done = here;
      continue;
    }
    passed.push_back(here);
    if (to.substr(0, 1) == "/") done.clear();
    rest.insert(0, to).insert(0, "/");
  }
  return done.empty() ? "/" : done;
}

std::vector<std::string> names_on_the_way(const std::string& path) {
  if (has_no_links(path)) return {path};
  std::vector<std::string> names;
  std::string rest = path;  // still to be walked, below `base`, where no link is
  std::string base;
  for (int links = 0; links <= kMostLinks;) {
    std::string_view after = rest;
    const std::string name(take_component(&after));
    rest.erase(0, rest.size() - after.size());
    if (name.empty()) {
      names.push_back(base.empty() ? "/" : base);
      return names;
    }
    if (name == ".") continue;
    if (name == "..") {
      base.resize(base.empty() ? 0 : base.rfind('/'));
      continue;
    }
    std::string here = base;
    here.append("/").append(name);
    char target[PATH_MAX];
    const ssize_t n = ::readlink(here.c_str(), target, sizeof target);
    if (n <= 0 || n == sizeof target) {  // no link, or nothing
      base = here;
      continue;
    }
    ++links;
    names.push_back(here);
    const std::string text(target, static_cast<size_t>(n));
    if (text[0] == '/') base.clear();
    rest.insert(0, text);
    if (rest[0] != '/') rest.insert(rest.begin(), '/');
  }
  return {};
}

std::vector<std::string> names_of(const std::string& path) {
  std::vector<std::string> names = names_on_the_way(path);
  std::erase_if(names, [](const std::string& name) {
    return is_within(name, "/proc") || is_within(name, "/dev");
  });
  return names;
}

namespace {

// A folder is listed once that costs less than asking on, by its size, which tells roughly how many
// entries it has.
constexpr size_t kAskBeforeLooking = 4;
constexpr size_t kAskBeforeListing = 5;
constexpr size_t kBytesAQuestion = 2048;
constexpr size_t kMostNames = 20'000;

// Upper and lower case alike, since a file system may take them for the same.
size_t bit_of(std::string_view name, size_t bits) {
  uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    hash = (hash ^ byte) * 0x100000001b3ULL;
  }
  return static_cast<size_t>(hash ^ hash >> 32U) % bits;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void set_bit(std::vector<uint64_t>& bits, std::string_view name) {
  const size_t bit = bit_of(name, bits.size() * 64);
  bits[bit / 64] |= uint64_t{1} << (bit % 64);
}

bool has_bit(const std::vector<uint64_t>& bits, std::string_view name) {
  const size_t bit = bit_of(name, bits.size() * 64);
  return (bits[bit / 64] >> (bit % 64) & 1U) != 0;
}

// Leaves `names` empty where a listing does not tell all that can be found in the folder.
void list_folder(const std::string& path, std::vector<uint64_t>& names,
                 std::vector<uint64_t>& links) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return;
  struct statfs system {};
  if (::fstatfs(fd.get(), &system) != 0) return;
  // These have entries that no listing shows (proc(5), autofs: not mounted yet).
  if (system.f_type == PROC_SUPER_MAGIC || system.f_type == AUTOFS_SUPER_MAGIC ||
      system.f_type == FUSE_SUPER_MAGIC)
    return;
  // Names of other letters may be the same there: Unicode's rules are not ours to repeat.
  int flags = 0;
  if (::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0) return;
  std::vector<std::pair<std::string, bool>> found;
  alignas(struct dirent64) char buffer[16384];
  for (;;) {
    const long size = ::syscall(SYS_getdents64, fd.get(), buffer, sizeof buffer);
    if (size < 0) return;
    if (size == 0) break;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const struct dirent64*>(buffer + at);
      found.emplace_back(entry->d_name, entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN);
      at += entry->d_reclen;
    }
    if (found.size() > kMostNames) return;
  }
  size_t words = 8;
  while (words < found.size()) words *= 2;  // 64 bits a name: two in a hundred asked for in vain
  names.resize(words);
  links.resize(words);
  for (const auto& [name, may_be_link] : found) {
    set_bit(names, name);
    if (may_be_link) set_bit(links, name);
  }
}

}  // namespace

LinkFollower::Entry LinkFollower::entry(Folder& in, std::string_view path, std::string_view name) {
  if (!is_ascii(name)) return Entry::kUnknown;
  if (!in.listed) {
    if (++in.asked == kAskBeforeLooking) {
      struct stat status {};
      if (::stat(std::string(path).c_str(), &status) == 0)
        in.list_at = kAskBeforeListing + static_cast<size_t>(status.st_size) / kBytesAQuestion;
    }
    if (in.asked < in.list_at) return Entry::kUnknown;
    list_folder(std::string(path), in.names, in.links);
    in.listed = true;
  }
  if (in.names.empty()) return Entry::kUnknown;
  if (!has_bit(in.names, name)) return Entry::kMissing;
  return has_bit(in.links, name) ? Entry::kUnknown : Entry::kNoLink;
}

LinkFollower::State LinkFollower::look(std::string_view path) {
  if (path == "/") return State::kThere;
  const std::string_view parent = parent_of(path);
  Folder& in = folder(parent);
  if (in.state != State::kThere) return in.state;
  if (is_within(parent, "/proc")) return State::kThere;  // whose links are kept as they are
  switch (entry(in, parent, last_of(path))) {
    case Entry::kMissing:
      return State::kMissing;
    case Entry::kNoLink:  // or missing: then what is below is found missing
      return State::kThere;
    case Entry::kUnknown:
      break;
  }
  char target[1];
  if (::readlink(std::string(path).c_str(), target, sizeof target) >= 0) return State::kLinked;
  if (errno == ENOENT) return State::kMissing;
  return errno == EINVAL ? State::kThere : State::kLinked;  // EINVAL: there, and no link
}

LinkFollower::Folder& LinkFollower::folder(std::string_view path) {
  if (last_ != nullptr && last_path_ == path) return *last_;
  auto known = folders_.find(path);
  if (known == folders_.end()) {
    const State state = look(path);
    known =
        folders_.emplace(std::string(path), Folder{.state = state, .names = {}, .links = {}}).first;
  }
  last_path_ = path;
  last_ = &known->second;
  return *last_;
}

LinkFollower::State LinkFollower::state(std::string_view path) {
  if (last_ != nullptr && last_path_ == path) return last_->state;
  const auto known = folders_.find(path);
  return known != folders_.end() ? known->second.state : look(path);
}

std::string LinkFollower::follow(const std::string& path) {
  if (path.find('\0') != std::string::npos || !is_canonical(path)) return follow_links(path);
  // Remembered, unlike what may_lead_elsewhere() is asked for: it is what stands before a wildcard,
  // mostly a folder, or known to lead elsewhere.
  return folder(path).state == State::kLinked ? follow_links(path) : path;
}

}  // namespace bulkhead
