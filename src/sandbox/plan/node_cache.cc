#include "sandbox/plan/node_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/fd.h"
#include "base/path.h"
#include "policy/manifest.h"
#include "sandbox/home/kept_content.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;

// Node's own name for it, below os.tmpdir().
constexpr char kPlace[] = "/tmp/node-compile-cache";
constexpr std::chrono::hours kKept{30 * 24};
// More than a program's code makes: TypeScript's compiler takes 10 MB, npm some 400 files.
constexpr uint64_t kMostBytes = uint64_t{256} << 20U;
constexpr int kMostFiles = 10'000;

// What the compartment may do: the same text for the same rights.
std::string rights(const Policy& policy, const std::vector<std::string>& passing) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(part).append(1, '\0'); };
  for (const Rule& rule : policy.rules()) {
    if (is_canonical(rule.resolved) &&
        std::any_of(passing.begin(), passing.end(),
                    [&rule](const auto& folder) { return is_within(rule.resolved, folder); }))
      continue;
    add(std::to_string(static_cast<int>(rule.verdict)) + " " + std::to_string(rule.kinds));
    add(rule.resolved.empty() ? rule.text : rule.resolved);
  }
  for (const std::string& program : policy.runnable_files()) add(program);
  for (const std::string& tree : policy.runnable_trees()) add(tree);
  return text;
}

void remove_unused(const fs::path& caches) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator each(caches, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    const auto used = fs::last_write_time(each->path(), ignored);
    if (ignored || now - used <= kKept) continue;
    if (fs::is_directory(each->symlink_status(ignored))) remove_content(each->path().string());
    fs::remove(each->path(), ignored);
  }
}

bool is_too_large(const fs::path& cache) {
  uint64_t bytes = 0;
  int files = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator each(cache, error), end; !error && each != end;
       each.increment(error)) {
    struct stat status {};
    if (::lstat(each->path().c_str(), &status) == 0)
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    if (bytes > kMostBytes || ++files > kMostFiles) return true;
  }
  return static_cast<bool>(error);  // a folder that cannot be listed may hold anything
}

}  // namespace

std::optional<KeptFolder> node_cache(const Policy& policy, Enforcement enforcement,
                                     const std::string& state, const NodeCacheOwner& owner) {
  const auto& files = policy.runnable_files();
  if (enforcement == Enforcement::kAuditOnly ||
      std::none_of(files.begin(), files.end(),
                   [](const std::string& file) { return last_of(file) == "node"; }))
    return std::nullopt;
  std::string whose = std::to_string(::geteuid());
  whose.append(1, '\0').append(owner.subject);
  for (const std::string& folder : owner.workspace) whose.append(1, '\0').append(folder);
  whose.append(2, '\0').append(rights(policy, owner.passing));
  return KeptFolder{join(state, "node-cache/" + ManifestBytes::of("", whose).digest()), kPlace};
}

bool make_node_cache(const KeptFolder& cache) {
  const std::string caches(parent_of(cache.source));
  const std::string state(parent_of(caches));
  if (!make_directories(state, 0700).ok() || !is_own_folder(state)) return false;
  if (::mkdir(caches.c_str(), 0700) != 0 && errno != EEXIST) return false;
  if (!is_own_folder(caches)) return false;
  if (::mkdir(cache.source.c_str(), 0700) == 0) {
    remove_unused(caches);
    return true;
  }
  if (errno != EEXIST || !is_own_folder(cache.source)) return false;
  if (is_too_large(cache.source)) remove_content(cache.source);
  return ::utimensat(AT_FDCWD, cache.source.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace bulkhead
