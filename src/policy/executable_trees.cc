#include "policy/executable_trees.h"

#include <algorithm>

#include "base/path.h"

namespace bulkhead {

namespace {

// A rule of Landlock's walks up across mount points: one on /tmp would also grant what is granted,
// and so bound, below it.
bool is_bound_below(const Policy& policy, std::string_view tree) {
  const auto below = [tree](std::string_view path) {
    return path != tree && is_within(path, tree);
  };
  return std::any_of(policy.rules().begin(), policy.rules().end(),
                     [&below](const Rule& rule) {
                       return rule.verdict == Verdict::kAllow && below(rule.resolved);
                     }) ||
         std::any_of(policy.runnable_files().begin(), policy.runnable_files().end(), below) ||
         std::any_of(policy.runnable_trees().begin(), policy.runnable_trees().end(), below);
}

}  // namespace

std::string own_tree_of(const Policy& policy, std::string_view path) {
  for (const Rule& rule : policy.rules())
    if (rule.source == Rule::Source::kBaseline && rule.group == "scratch" &&
        is_within(path, rule.resolved))
      return is_bound_below(policy, rule.resolved) ? "" : rule.resolved;
  return "";
}

std::vector<std::string> executable_trees(const Policy& policy) {
  std::vector<std::string> trees;
  for (const std::string& tree : policy.runnable_trees()) {
    if (own_tree_of(policy, tree) == tree) trees.push_back(tree);
    for (const WholeTree& whole : policy.whole_trees()) {
      if (!whole.read) continue;
      if (is_within(tree, whole.path)) {
        trees.push_back(tree);
      } else if (is_within(whole.path, tree)) {
        trees.push_back(whole.path);
      }
    }
  }
  return trees;
}

bool starts_what_it_reads(const Policy& policy) {
  return policy.runs_what_it_reads() || policy.otherwise() == Otherwise::kAsk;
}

bool can_start(const Policy& policy, std::string_view path) {
  if (policy.decide_path(Kind::kRun, path).verdict != Verdict::kAllow) return true;
  const auto& files = policy.runnable_files();
  if (std::find(files.begin(), files.end(), path) != files.end()) return true;
  const std::vector<std::string> trees = executable_trees(policy);
  if (std::any_of(trees.begin(), trees.end(),
                  [path](const std::string& tree) { return is_within(path, tree); }))
    return true;
  return starts_what_it_reads(policy) &&
         std::any_of(
             policy.whole_trees().begin(), policy.whole_trees().end(),
             [path](const WholeTree& whole) { return whole.read && is_within(path, whole.path); });
}

}  // namespace bulkhead
