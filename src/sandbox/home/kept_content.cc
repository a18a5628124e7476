#include "sandbox/home/kept_content.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/fd.h"

namespace bulkhead {

namespace {

namespace fs = std::filesystem;

// By descriptors throughout: programs may be changing the tree, and a path that was looked at may
// be a link by the next step.
using Listing = std::unique_ptr<DIR, int (*)(DIR*)>;
Listing list(Fd folder) {
  DIR* const listing = folder ? ::fdopendir(folder.get()) : nullptr;
  if (listing != nullptr) (void)folder.release();
  return {listing, ::closedir};
}

// The next name but "." and ".."; nullptr after the last.
const char* next_name(DIR* listing) {
  while (const dirent* const each = ::readdir(listing)) {
    const std::string_view name = each->d_name;
    if (name != "." && name != "..") return each->d_name;
  }
  return nullptr;
}

// Lets this user list, search and empty a folder and those in it.
void open_up(int at, const char* name) {
  const Fd place(::openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place) return;
  (void)::chmod(fmt::format("/proc/self/fd/{}", place.get()).c_str(), 0700);
  const Listing inside = list(Fd(::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!inside) return;
  while (const char* const each = next_name(inside.get())) open_up(::dirfd(inside.get()), each);
}

// False where not all can be looked at. What goes meanwhile is nothing to count.
bool add_sizes(int at, const char* name, uint64_t most, ContentSize* size) {
  const Listing inside =
      list(Fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  if (!inside) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
  while (const char* const each = next_name(inside.get())) {
    struct stat status {};
    if (::fstatat(::dirfd(inside.get()), each, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return false;
    }
    const bool folder = S_ISDIR(status.st_mode);
    // All names of a file are in there: links never cross a mount.
    const uint64_t names = folder ? 1 : std::max<uint64_t>(1, status.st_nlink);
    size->bytes += static_cast<uint64_t>(status.st_blocks) * 512 / names;
    if (++size->files > most) return true;
    if (folder && !add_sizes(::dirfd(inside.get()), each, most, size)) return false;
    if (size->files > most) return true;
  }
  return true;
}

}  // namespace

bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

void remove_content(const std::string& folder) {
  open_up(AT_FDCWD, folder.c_str());
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    fs::remove_all(each->path(), ignored);
  }
}

std::optional<ContentSize> size_of_content(const std::string& folder, uint64_t most_files) {
  ContentSize size;
  if (!add_sizes(AT_FDCWD, folder.c_str(), most_files, &size)) return std::nullopt;
  return size;
}

}  // namespace bulkhead
