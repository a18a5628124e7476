#include "sandbox/node_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/fd.h"
#include "base/path.h"
#include "policy/manifest.h"

namespace bulkhead {
namespace {

// Node's own name for it, below os.tmpdir().
constexpr char kPlace[] = "/tmp/node-compile-cache";
constexpr std::chrono::hours kKept{30 * 24};

// Whatever the programs left in there: links are removed, not followed.
void remove_unused(const std::filesystem::path& caches) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator each(caches, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    const auto used = fs::last_write_time(each->path(), ignored);
    if (!ignored && now - used > kKept) fs::remove_all(each->path(), ignored);
  }
}

}  // namespace

std::optional<KeptFolder> node_cache(const Policy& policy, const std::string& state,
                                     std::string_view subject,
                                     const std::vector<std::string>& workspace) {
  const auto& files = policy.runnable_files();
  if (std::none_of(files.begin(), files.end(),
                   [](const std::string& file) { return last_of(file) == "node"; }))
    return std::nullopt;
  std::string whose(subject);
  for (const std::string& folder : workspace) whose.append(1, '\0').append(folder);
  return KeptFolder{join(state, "node-cache/" + ManifestBytes::of("", whose).digest()), kPlace};
}

bool make_node_cache(const KeptFolder& cache) {
  const std::string caches(parent_of(cache.source));
  if (!make_directories(caches, 0700).ok()) return false;
  if (::mkdir(cache.source.c_str(), 0700) == 0) {
    remove_unused(caches);
    return true;
  }
  // Not of another's making, which could lead elsewhere.
  struct stat status {};
  return errno == EEXIST && ::lstat(cache.source.c_str(), &status) == 0 &&
         S_ISDIR(status.st_mode) &&
         ::utimensat(AT_FDCWD, cache.source.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace bulkhead
