#include "sandbox/home/spare_folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/path.h"
#include "sandbox/home/kept_content.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

namespace {

constexpr uint64_t kNoLinks = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
constexpr size_t kMostPlaces = 10'000;  // a program that renames on and on fills no memory of ours

Fd open_folder(int at, const std::string& path) {
  return Fd(openat2_raw(at, path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0, kNoLinks));
}

bool same_folder(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

std::string spare_name(int i) { return fmt::format("spare-{}", i); }

std::string spare_of(const std::string& store) {
  return fmt::format("{}/.{}.spare", parent_of(store), last_of(store));
}

Status make_spare(const std::string& store) {
  const std::string spare = spare_of(store);
  if (::mkdir(spare.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("make " + spare);
  if (!is_own_folder(spare))
    return Error{fmt::format("{} is no folder of this user's", escape_for_display(spare)), EPERM};
  const Fd folder = open_folder(AT_FDCWD, spare);
  if (!folder) return errno_error("open " + spare);
  for (int i = 0; i < kSpareFolders; ++i)
    if (::mkdirat(folder.get(), spare_name(i).c_str(), 0700) != 0 && errno != EEXIST)
      return errno_error("make a folder in " + spare);
  return {};
}

SpareFolders::SpareFolders(const PrivateHome& home)
    : home_(home),
      spare_(open_folder(AT_FDCWD, spare_of(home.store()))),
      store_(open_folder(AT_FDCWD, home.store())) {}

int SpareFolders::put(int parent, const std::string& path, mode_t mode) {
  if (!spare_ || !store_) return ENOENT;
  // By the machine's mount of the store: a rename crosses none, and the compartment has another.
  const std::string above(parent_of(path).substr(home_.home().size()));
  const Fd folder =
      above.empty() ? open_folder(store_.get(), ".") : open_folder(store_.get(), above.substr(1));
  if (!folder || !same_folder(folder.get(), parent)) return ENOENT;
  const std::lock_guard lock(mutex_);
  if (places_.size() >= kMostPlaces) return ENOENT;
  for (int i = 0; i < kSpareFolders; ++i) {
    const std::string name = spare_name(i);
    if (::fchmodat(spare_.get(), name.c_str(), mode, 0) != 0) continue;
    if (::syscall(SYS_renameat2, spare_.get(), name.c_str(), folder.get(),
                  std::string(last_of(path)).c_str(), RENAME_NOREPLACE) == 0) {
      (void)::utimensat(folder.get(), std::string(last_of(path)).c_str(), nullptr,
                        AT_SYMLINK_NOFOLLOW);
      places_.insert(path);
      return 0;
    }
    if (errno == EEXIST) return EEXIST;
    if (errno != ENOENT) break;  // another was faster
  }
  return ENOENT;
}

bool SpareFolders::holds(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  for (;; path = parent_of(path)) {
    if (places_.contains(path)) return true;
    if (path == "/") return false;
  }
}

void SpareFolders::note_move(const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (places_.size() < kMostPlaces) places_.insert(to);
}

}  // namespace bulkhead
