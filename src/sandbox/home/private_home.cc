#include "sandbox/home/private_home.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>

#include "base/fd.h"
#include "base/path.h"
#include "policy/pattern.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

namespace {

// As many as init holds open at one time.
constexpr size_t kMostReal = 200;
// A place for a file, nothing else: a program reads none where the file is gone.
constexpr mode_t kPlaceMode = S_ISVTX;
constexpr unsigned kContent = 1u << static_cast<unsigned>(Kind::kRead) |
                              1u << static_cast<unsigned>(Kind::kWrite) |
                              1u << static_cast<unsigned>(Kind::kRun);

constexpr uint64_t kNoLinks = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

Fd open_folder(int at, const std::string& name) {
  return Fd(openat2_raw(at, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0, kNoLinks));
}

std::optional<mode_t> mode_of(const std::string& path) {
  const Fd fd(openat2_raw(AT_FDCWD, path.c_str(), O_PATH | O_CLOEXEC, 0, kNoLinks));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  return status.st_mode;
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

// Its names, without "." and "..".
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return names;
  const std::unique_ptr<DIR, CloseFolder> listing(::fdopendir(fd));
  if (!listing) {
    ::close(fd);
    return names;
  }
  while (const dirent* each = ::readdir(listing.get())) {
    const std::string_view name = each->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

mode_t type_of(int folder, const std::string& name) {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return status.st_mode & S_IFMT;
}

// The folder itself, or a new one in the place of whatever else is there.
Result<Fd> make_folder(int at, const std::string& name) {
  if (const mode_t type = type_of(at, name); type != 0 && type != S_IFDIR)
    (void)::unlinkat(at, name.c_str(), 0);
  if (::mkdirat(at, name.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error("make the folder " + name);
  Fd folder = open_folder(at, name);
  if (!folder) return errno_error("open the folder " + name);
  return folder;
}

Status make_file(int at, const std::string& name) {
  const mode_t type = type_of(at, name);
  if (type == S_IFREG) return {};
  // A folder of the program's own keeps what is in it, under another name.
  if (type == S_IFDIR && ::renameat(at, name.c_str(), at, (name + ".own").c_str()) != 0)
    return errno_error("rename " + name);
  if (type != 0 && type != S_IFDIR) (void)::unlinkat(at, name.c_str(), 0);
  const Fd file(::openat(at, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
  if (!file && errno == EEXIST && type_of(at, name) == S_IFREG) return {};  // another was faster
  if (!file || ::fchmod(file.get(), kPlaceMode) != 0) return errno_error("make the file " + name);
  return {};
}

// Places for files that nothing is mounted on any more.
void remove_old_places(int store, const PrivateHome& home) {
  for (const std::string& name : names_in(store)) {
    struct stat status {};
    if (::fstatat(store, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_mode == (S_IFREG | kPlaceMode) && status.st_size == 0 &&
        !home.leads_to_real(entry_path(home.home(), name)))
      (void)::unlinkat(store, name.c_str(), 0);
  }
}

// The pattern of a rule that grants content.
std::optional<PathPattern> granted_pattern(const Rule& rule) {
  if (rule.verdict != Verdict::kAllow || rule.group == "scratch" || (rule.kinds & kContent) == 0)
    return std::nullopt;
  // "/a/." grants a folder's names and not what is in it; its place is needed all the same.
  std::string_view text = rule.resolved;
  if (text.ends_with("/.")) text.remove_suffix(2);
  auto parsed = parse_pattern(text);
  if (!parsed.ok() || !parsed->variable.empty()) return std::nullopt;
  return std::move(parsed->pattern);
}

// The folder whose names "~/.local/lib/python3*" speaks of; of other patterns none is known.
std::optional<std::string> folder_of(PathPattern pattern) {
  if (pattern.anywhere || pattern.components.empty()) return std::nullopt;
  pattern.components.pop_back();
  if (!pattern.is_concrete()) return std::nullopt;
  return pattern.path();
}

// The project's folder, and those around it with the settings that tools look for there. A folder
// with a dot is one that programs keep things of their own in: of that only the project itself.
std::string project_tree(const std::string& home, const std::string& workspace) {
  std::string_view below = std::string_view(workspace).substr(home.size());
  const std::string first(take_component(&below));
  return first.starts_with('.') ? workspace : entry_path(home, first);
}

// What is granted in a folder by names that hold for more than one; of the home folder files only.
void add_granted(const Policy& policy, const std::string& home, const std::string& path,
                 std::vector<std::string>& real) {
  const Fd folder = open_folder(AT_FDCWD, path);
  if (!folder) return;
  for (const std::string& name : names_in(folder.get())) {
    const std::string entry = entry_path(path, name);
    if (policy.decide_path(Kind::kRead, entry).verdict != Verdict::kAllow) continue;
    const mode_t type = type_of(folder.get(), name);
    if (type == S_IFREG || (type == S_IFDIR && path != home)) real.push_back(entry);
  }
}

void add_own_folders(const PrivateHome& home, int at, const std::string& path,
                     std::vector<std::string>& found) {
  for (const std::string& name : names_in(at)) {
    if (type_of(at, name) != S_IFDIR) continue;
    const std::string here = entry_path(path, name);
    if (!home.leads_to_real(here)) {
      found.push_back(here);
    } else if (home.holds(here)) {
      if (const Fd folder = open_folder(at, name)) add_own_folders(home, folder.get(), here, found);
    }
  }
}

}  // namespace

PrivateHome::PrivateHome(std::string home, std::string store, std::vector<std::string> real)
    : home_(std::move(home)), store_(std::move(store)) {
  std::sort(real.begin(), real.end(),
            [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  for (std::string& path : real)
    if (holds(path)) real_.push_back(std::move(path));
  std::sort(real_.begin(), real_.end());
}

bool PrivateHome::holds(std::string_view path) const noexcept {
  return is_within(path, home_) &&
         std::none_of(real_.begin(), real_.end(),
                      [path](const std::string& tree) { return is_within(path, tree); });
}

bool PrivateHome::leads_to_real(std::string_view path) const noexcept {
  return std::any_of(real_.begin(), real_.end(), [path](const std::string& tree) {
    return is_within(tree, path) || is_within(path, tree);
  });
}

Result<PrivateHome> plan_home(const Policy& policy, std::string store, const std::string& folder) {
  const std::string& home = policy.private_home();
  if (!open_folder(AT_FDCWD, "/") && (errno == ENOSYS || errno == EPERM))
    return Error{"openat2 cannot be used here (feature \"openat2\"); see `bulkhead doctor`", errno};
  if (home.size() < 2 || !mode_of(home) || !S_ISDIR(*mode_of(home)))
    return Error{fmt::format("there is no home folder to be private: {} {}",
                             escape_for_display(home.empty() ? "HOME" : home),
                             home.size() < 2 ? "is no folder of a user's" : "is not there")};
  std::vector<std::string> real;
  const auto granted_whole = [&home](std::string_view path, std::string_view by) {
    return Error{fmt::format(
        "the home folder {} cannot be private, because {} is granted ({}): leave that out, or do "
        "without a private home",
        escape_for_display(home), escape_for_display(path), escape_for_display(by))};
  };
  std::set<std::string> folders = {home};
  for (const Rule& rule : policy.rules()) {
    const auto pattern = granted_pattern(rule);
    if (!pattern) continue;
    if (!pattern->is_concrete()) {
      if (auto folder_named = folder_of(*pattern); folder_named && is_within(*folder_named, home))
        folders.insert(std::move(*folder_named));
      continue;
    }
    const std::string path = pattern->path();
    if (is_within(home, path)) return granted_whole(path, rule.text);
    if (!is_within(path, home)) continue;
    if (mode_of(path)) {
      real.push_back(path);
    } else if (rule.source == Rule::Source::kCommandLine &&
               (rule.kinds & 1u << static_cast<unsigned>(Kind::kWrite)) != 0) {
      return Error{
          fmt::format("{} does not exist, and would be made in the private home: make it "
                      "first",
                      escape_for_display(path))};
    }
  }
  for (const auto* list : {&policy.runnable_files(), &policy.runnable_trees()})
    for (const std::string& path : *list)
      if (path != home && is_within(path, home) && mode_of(path)) real.push_back(path);
  for (const std::string& workspace : policy.workspace())
    if (workspace != home && is_within(workspace, home) && mode_of(workspace))
      real.push_back(project_tree(home, workspace));
  for (const std::string& each : folders) add_granted(policy, home, each, real);
  PrivateHome planned(home, std::move(store), std::move(real));
  if (planned.real().size() > kMostReal)
    return Error{
        fmt::format("{} places in the home folder are granted, and a private home takes "
                    "{} at the most: grant whole folders",
                    planned.real().size(), kMostReal)};
  if (folder != home && planned.holds(folder))
    return Error{fmt::format(
        "the working folder {} is not granted, and would not be there in a private home: grant "
        "reading it, or start in another folder",
        escape_for_display(folder))};
  return planned;
}

Result<Fd> make_places(const PrivateHome& home) {
  Fd store(::open(home.store().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!store) return errno_error("open " + home.store());
  // Removing a place takes away what another compartment with this store has mounted there, so each
  // holds a lock for as long as it runs. (A passing store is locked by its run, and empty.)
  if (::flock(store.get(), LOCK_EX | LOCK_NB) == 0) remove_old_places(store.get(), home);
  (void)::flock(store.get(), LOCK_SH | LOCK_NB);
  for (const std::string& tree : home.real()) {
    const auto mode = mode_of(tree);
    if (!mode) return Error{fmt::format("{} is gone", escape_for_display(tree)), ENOENT};
    std::string_view rest = std::string_view(tree).substr(home.home().size());
    Fd at = open_folder(store.get(), ".");
    for (std::string name(take_component(&rest)); !name.empty(); name = take_component(&rest)) {
      const bool last = rest.find_first_not_of('/') == std::string_view::npos;
      if (last && !S_ISDIR(*mode)) {
        BULKHEAD_CHECK(make_file(at.get(), name));
      } else {
        BULKHEAD_TRY(at, make_folder(at.get(), name));
      }
    }
  }
  return store;
}

std::vector<std::string> own_folders(const PrivateHome& home) {
  std::vector<std::string> found;
  if (const Fd store = open_folder(AT_FDCWD, home.store()))
    add_own_folders(home, store.get(), home.home(), found);
  return found;
}

}  // namespace bulkhead
