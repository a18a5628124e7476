#include "policy/names_above.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "policy/pattern.h"

namespace bulkhead {

void NamesAbove::add(std::string name, RuleId rule, RuleId listing) {
  names_.push_back({std::move(name), rule});
  listing_ = std::min(listing_, listing);
}

RuleId NamesAbove::find(std::string_view path) const noexcept {
  if (names_.empty()) return kNoRule;
  const auto has = [](const std::vector<std::string>& all, std::string_view folder) {
    return std::find(all.begin(), all.end(), folder) != all.end();
  };
  if (has(folders_, path) || has(closed_, path)) return listing_;
  if (!has(folders_, parent_of(path))) return kNoRule;
  const auto found = std::find_if(
      names_.begin(), names_.end(),
      [name = last_of(path)](const Name& each) { return component_matches(each.glob, name); });
  return found == names_.end() ? kNoRule : found->rule;
}

bool NamesAbove::lies_below(std::string_view path) const noexcept {
  return !names_.empty() &&
         std::any_of(folders_.begin(), folders_.end(),
                     [path](const std::string& folder) { return is_within(folder, path); });
}

namespace {

bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & S_IWOTH) == 0;
}

std::vector<std::string> each_once(std::vector<std::string> folders) {
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

}  // namespace

std::vector<std::string> folders_above(const Variables& variables) {
  const std::string& home = variables.home;
  std::vector<std::string> folders;
  for (const std::string& workspace : variables.workspace) {
    if (!is_canonical(workspace) || workspace == home) continue;
    const bool at_home = home.size() > 1 && is_canonical(home) && is_within(workspace, home);
    for (std::string above(parent_of(workspace)); above != "/"; above = parent_of(above)) {
      if (!at_home && !is_own_folder(above)) break;
      folders.push_back(above);
      if (above == home) break;
    }
  }
  return each_once(std::move(folders));
}

std::vector<std::string> ancestors(const Variables& variables) {
  std::vector<std::string> folders;
  for (const std::string& workspace : variables.workspace) {
    if (!is_canonical(workspace)) continue;
    for (std::string_view above = workspace; above != "/";) {
      above = parent_of(above);
      folders.emplace_back(above);
    }
  }
  return each_once(std::move(folders));
}

}  // namespace bulkhead
