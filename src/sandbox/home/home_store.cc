#include "sandbox/home/home_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/path.h"
#include "policy/config.h"
#include "policy/extension_id.h"
#include "sandbox/home/kept_content.h"
#include "sandbox/home/spare_folders.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPassing = "run-";
constexpr size_t kMostWhose = size_t{1} << 20U;

// As mkdtemp makes them. A subject's ends in "-" and a longer digest, whatever it is called.
bool is_passing(const std::string& folder) {
  const std::string_view name = last_of(folder);
  return name.size() == kPassing.size() + 6 && name.starts_with(kPassing);
}

std::string homes_in(const std::string& state) { return join(state, "homes"); }

Fd locked(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

void remove_whole(const std::string& folder) {
  remove_content(folder);
  (void)::rmdir(folder.c_str());
}

// Parents first.
constexpr std::array<std::string_view, 7> kFolders = {
    ".cache", ".config", ".local", ".local/bin", ".local/lib", ".local/share", ".local/state"};

// Removing a folder takes some file systems longer than a program's start, so those that every
// store has stay, as if they were new.
bool keep_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         ::llistxattr(path.c_str(), nullptr, 0) == 0 && ::chmod(path.c_str(), 0700) == 0 &&
         ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

// With nobody in it.
void empty_store(const std::string& store) {
  std::vector<std::string> kept = {store};
  (void)keep_folder(store);
  for (const std::string_view name : kFolders) {
    const std::string path = store + "/" + std::string(name);
    const bool in_kept =
        std::find(kept.begin(), kept.end(), std::string(parent_of(path))) != kept.end();
    if (in_kept && keep_folder(path)) kept.push_back(path);
  }
  for (const std::string& folder : kept) {
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
      const std::string path = each->path().string();
      if (std::find(kept.begin(), kept.end(), path) != kept.end()) continue;
      std::error_code ignored;
      if (fs::is_directory(each->symlink_status(ignored))) remove_content(path);
      fs::remove(each->path(), ignored);
    }
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "publisher.name-" of "/…/publisher.name-1.2.3"; "" where a package lies that nobody installed.
std::string installed_prefix(const std::string& package) {
  const std::string name(last_of(package));
  for (size_t dash = name.find('-'); dash != std::string::npos; dash = name.find('-', dash + 1))
    if (dash + 1 < name.size() && name[dash + 1] >= '0' && name[dash + 1] <= '9' &&
        is_extension_id(name.substr(0, dash)))
      return name.substr(0, dash + 1);
  return {};
}

// Where all of it can be looked at: a folder that is not mounted now tells nothing.
bool is_uninstalled(const std::string& package) {
  const std::string prefix = installed_prefix(package);
  if (prefix.empty()) return false;
  std::error_code error;
  for (fs::directory_iterator each(std::string(parent_of(package)), error), end;
       !error && each != end; each.increment(error))
    if (each->path().filename().string().starts_with(prefix)) return false;
  return !error;
}

}  // namespace

std::string store_of(const std::string& state, const std::string& subject) {
  return homes_in(state) + "/" + folder_name_of(subject) + "/home";
}

Status make_store(const std::string& store) {
  BULKHEAD_CHECK(make_directories(store, 0700));
  if (!is_own_folder(store))
    return Error{fmt::format("{} is no folder of this user's", escape_for_display(store)), EPERM};
  // The program may have put something else there, which it keeps.
  for (const char* each : {".cache", ".config", ".local", ".local/bin", ".local/lib",
                           ".local/share", ".local/state"}) {
    const std::string folder = store + "/" + each;
    const Fd parent(openat2_raw(AT_FDCWD, std::string(parent_of(folder)).c_str(),
                                O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS));
    if (parent) (void)::mkdirat(parent.get(), std::string(last_of(folder)).c_str(), 0700);
  }
  // Beside a folder of a person's choice it may not be possible: programs that are put into a new
  // folder right below the home start at the next run then.
  (void)make_spare(store);
  return {};
}

Status make_store_of(const std::string& state, const std::string& subject,
                     const std::vector<std::string>& packages) {
  const std::string store = store_of(state, subject);
  BULKHEAD_CHECK(make_store(store));
  std::string text = subject + "\n";
  for (const std::string& each : packages) text += each + "\n";
  const std::string whose = std::string(parent_of(store)) + "/whose";
  if (const auto before = read_file(whose, kMostWhose); before.ok() && *before == text) return {};
  const Fd file(::open(whose.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return errno_error("write " + whose);
  return {};
}

void remove_orphaned_stores(const std::string& state) {
  std::error_code error;
  for (fs::directory_iterator each(homes_in(state), error), end; !error && each != end;
       each.increment(error)) {
    const std::string folder = each->path().string();
    // In a passing one all is the program's own word.
    if (is_passing(folder) || !is_own_folder(folder)) continue;
    const auto whose = read_file(folder + "/whose", kMostWhose);
    if (!whose.ok()) continue;
    std::vector<std::string> lines = lines_of(*whose);
    if (lines.empty()) continue;
    lines.erase(lines.begin());
    if (std::any_of(lines.begin(), lines.end(), is_uninstalled)) remove_whole(folder);
  }
}

std::vector<KeptHome> kept_homes(const std::string& state) {
  constexpr uint64_t kMostCounted = 1'000'000;
  std::vector<KeptHome> found;
  std::error_code error;
  for (fs::directory_iterator each(homes_in(state), error), end; !error && each != end;
       each.increment(error)) {
    const std::string folder = each->path().string();
    if (is_passing(folder) || !is_own_folder(folder)) continue;
    const auto whose = read_file(folder + "/whose", kMostWhose);
    if (!whose.ok()) continue;
    const std::vector<std::string> lines = lines_of(*whose);
    KeptHome home;
    home.store = folder + "/home";
    struct stat status {};
    if (lines.empty() || ::lstat(home.store.c_str(), &status) != 0) continue;
    home.subject = lines.front();
    home.size = size_of_content(home.store, kMostCounted);
    home.used = status.st_mtime;
    found.push_back(std::move(home));
  }
  std::sort(found.begin(), found.end(),
            [](const KeptHome& a, const KeptHome& b) { return a.subject < b.subject; });
  return found;
}

Status clear_home(const KeptHome& home) {
  const Fd lock = locked(home.store);
  if (!lock)
    return Error{fmt::format("the home of {} is in use: end what runs there first",
                             escape_for_display(home.subject)),
                 EBUSY};
  empty_store(home.store);
  return {};
}

Result<PassingStore> PassingStore::make(const std::string& state) {
  const std::string homes = homes_in(state);
  BULKHEAD_CHECK(make_directories(homes, 0700));
  if (!is_own_folder(homes))
    return Error{fmt::format("{} is no folder of this user's", escape_for_display(homes)), EPERM};
  PassingStore store;
  // That of an earlier run, which may have been killed before it left it empty.
  std::error_code error;
  for (fs::directory_iterator each(homes, error), end; !error && each != end && !store.lock_;
       each.increment(error)) {
    store.path_ = each->path().string();
    if (is_passing(store.path_)) store.lock_ = locked(store.path_);
  }
  if (store.lock_) store.empty();
  while (!store.lock_) {  // whoever looks for one may be faster
    store.path_ = homes + "/" + std::string(kPassing) + "XXXXXX";
    if (::mkdtemp(store.path_.data()) == nullptr) return errno_error("make " + store.path_);
    store.lock_ = locked(store.path_);
  }
  BULKHEAD_CHECK(make_store(store.path_));
  return store;
}

void PassingStore::empty() const { empty_store(path_); }

}  // namespace bulkhead
