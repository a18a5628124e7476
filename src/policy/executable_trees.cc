#include "policy/executable_trees.h"

#include <algorithm>

#include "base/path.h"

namespace bulkhead {

std::vector<std::string> executable_trees(const Policy& policy) {
  std::vector<std::string> trees;
  for (const std::string& tree : policy.runnable_trees())
    for (const WholeTree& whole : policy.whole_trees()) {
      if (!whole.read) continue;
      if (is_within(tree, whole.path)) {
        trees.push_back(tree);
      } else if (is_within(whole.path, tree)) {
        trees.push_back(whole.path);
      }
    }
  return trees;
}

bool can_start(const Policy& policy, std::string_view path) {
  if (policy.decide_path(Kind::kRun, path).verdict != Verdict::kAllow) return true;
  const auto& files = policy.runnable_files();
  if (std::find(files.begin(), files.end(), path) != files.end()) return true;
  const std::vector<std::string> trees = executable_trees(policy);
  if (std::any_of(trees.begin(), trees.end(),
                  [path](const std::string& tree) { return is_within(path, tree); }))
    return true;
  // Where a person may say yes during the run, all that is readable as a whole may start.
  return policy.otherwise() == Otherwise::kAsk &&
         std::any_of(
             policy.whole_trees().begin(), policy.whole_trees().end(),
             [path](const WholeTree& whole) { return whole.read && is_within(path, whole.path); });
}

}  // namespace bulkhead
