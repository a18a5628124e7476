#include "sandbox/kept_content.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace bulkhead {

namespace fs = std::filesystem;

bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

void remove_content(const std::string& folder) {
  const auto open_up = [](const fs::path& path) {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all,
                    fs::perm_options::replace | fs::perm_options::nofollow, ignored);
  };
  std::error_code error;
  open_up(folder);
  for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(each->symlink_status(ignored))) open_up(each->path());
  }
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    fs::remove_all(each->path(), ignored);
  }
}

std::optional<uint64_t> size_of_content(const std::string& folder, uint64_t most_files) {
  uint64_t bytes = 0;
  uint64_t files = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    struct stat status {};
    if (::lstat(each->path().c_str(), &status) == 0)
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    if (++files > most_files) return std::nullopt;
  }
  if (error) return std::nullopt;
  return bytes;
}

}  // namespace bulkhead
