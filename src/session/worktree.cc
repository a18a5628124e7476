#include "session/worktree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/path.h"
#include "policy/git_settings.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

constexpr size_t kMostOfPath = PATH_MAX + 16;
constexpr std::string_view kGitDir = "gitdir:";

// Of this user's, and no link.
std::optional<std::string> line_of(const std::string& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid())
    return std::nullopt;
  auto text = read_file(file, kMostOfPath);
  if (!text.ok()) return std::nullopt;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty() || text->find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
    return std::nullopt;
  return std::move(*text);
}

// The folder that `text` names, from `base` where it is relative; "" where there is none, or it is
// another user's.
std::string folder_at(const std::string& base, const std::string& text) {
  char path[PATH_MAX];
  struct stat status {};
  if (::realpath(join(base, text).c_str(), path) == nullptr || ::stat(path, &status) != 0 ||
      !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
    return {};
  return path;
}

// What stands in worktrees/NAME of the repository: "gitdir" says which file ".git" it is of.
std::string of_linked_worktree(const std::string& folder, const std::string& workspace) {
  const std::string repository(parent_of(parent_of(folder)));
  const auto back = line_of(join(folder, "gitdir"));
  const auto common = line_of(join(folder, "commondir"));
  if (!back || !common || last_of(parent_of(folder)) != "worktrees") return {};
  const std::string file = join(folder, *back);
  if (last_of(file) != ".git" || folder_at("/", std::string(parent_of(file))) != workspace ||
      folder_at(folder, *common) != repository)
    return {};
  return repository;
}

// Its settings say which working tree it is of.
std::string of_submodule(const std::string& folder, const std::string& workspace) {
  const auto text = read_file(join(folder, "config"), kMostGitSettings);
  if (!text.ok()) return {};
  const auto settings = read_git_settings(*text);
  if (!settings.ok()) return {};
  std::string tree;
  for (const GitSetting& each : *settings)
    if (each.section == "core" && each.name == "worktree" && !each.has_subsection)
      tree = each.value;
  return !tree.empty() && folder_at(folder, tree) == workspace ? folder : std::string();
}

Extra extra(Verdict verdict, Kind kind, std::string text) {
  return {
      .source = Rule::Source::kCommandLine,
      .verdict = verdict,
      .kind = kind,
      .entry = {.text = std::move(text),
                .where = {.file = "command line", .line = 0, .column = 0, .field = "--workspace"}}};
}

// "**/*.git/hooks" and "**/.bare/hooks" are on the blocklist.
bool is_known_by_name(const std::string& repository) {
  const std::string_view name = last_of(repository);
  return name.ends_with(".git") || name == ".bare" ||
         repository.find(".git/modules/") != std::string::npos;
}

}  // namespace

std::string repository_of(const std::string& workspace) {
  const auto text = line_of(join(workspace, ".git"));
  if (!text || !text->starts_with(kGitDir)) return {};
  std::string_view named = std::string_view(*text).substr(kGitDir.size());
  named.remove_prefix(std::min(named.find_first_not_of(' '), named.size()));
  const std::string folder = folder_at(workspace, std::string(named));
  struct stat status {};
  if (folder.empty() || ::lstat(join(folder, "HEAD").c_str(), &status) != 0) return {};
  std::string repository = of_linked_worktree(folder, workspace);
  if (repository.empty()) repository = of_submodule(folder, workspace);
  // Nobody's repository holds the project itself.
  return is_within(workspace, repository) ? std::string() : repository;
}

std::vector<Extra> repository_grants(const std::vector<std::string>& workspaces, bool reads,
                                     bool writes) {
  std::vector<Extra> extras;
  for (const std::string& workspace : workspaces) {
    const std::string repository = repository_of(workspace);
    const bool granted = repository.empty() || std::any_of(workspaces.begin(), workspaces.end(),
                                                           [&](const std::string& each) {
                                                             return is_within(repository, each);
                                                           });
    if (granted) continue;
    const std::string entry = quote_path(repository);
    if (reads) extras.push_back(extra(Verdict::kAllow, Kind::kRead, entry));
    if (writes) extras.push_back(extra(Verdict::kAllow, Kind::kWrite, entry));
    if (is_known_by_name(repository)) continue;
    for (const char* part : {"/hooks", "/config", "/config.worktree", "/commondir",
                             "/worktrees/*/hooks", "/worktrees/*/config",
                             "/worktrees/*/config.worktree", "/worktrees/*/commondir", "/modules"})
      extras.push_back(extra(Verdict::kDeny, Kind::kWrite, entry + part));
  }
  return extras;
}

}  // namespace bulkhead
