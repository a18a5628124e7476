#include "policy/whole_trees.h"

#include <algorithm>
#include <string_view>

#include "base/path.h"

namespace bulkhead {
namespace {

// "/" sorts before every other byte, so that a tree's paths stand right behind it.
bool before(std::string_view a, std::string_view b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return a.size() < b.size();
  if (*x == '/' || *y == '/') return *x == '/';
  return static_cast<unsigned char>(*x) < static_cast<unsigned char>(*y);
}

}  // namespace

std::vector<WholeTree> find_whole_trees(const PathIndex& index,
                                        const std::vector<std::string>& concrete_grants) {
  std::vector<WholeTree> all;
  all.reserve(concrete_grants.size());
  for (const std::string& grant : concrete_grants) {
    WholeTree tree;
    tree.path = grant;
    PathMatches matches;
    if (tree.path.size() > 4096) continue;  // longer than any path that is decided
    const PathIndex::Below below = index.below(tree.path, /*anywhere_counts=*/true, &matches);
    const auto has = [&](Channel channel) { return matches.lowest(channel) != kNoRule; };
    const bool read_blocked = has(Channel::kBlockRead) || has(Channel::kHide) || below.blocked_read;
    const bool write_blocked = has(Channel::kBlockWrite) || below.blocked_write;
    // What is granted above is granted here, so each tree tells all its rights. A grant by a
    // wildcard counts too where it covers the whole tree.
    tree.read = has(Channel::kAllowRead) && !read_blocked;
    tree.write = has(Channel::kAllowWrite) && !read_blocked && !write_blocked;
    if (tree.read || tree.write) all.push_back(std::move(tree));
  }
  std::sort(all.begin(), all.end(),
            [](const WholeTree& a, const WholeTree& b) { return before(a.path, b.path); });

  std::vector<WholeTree> result;
  std::vector<size_t> open;  // the trees in `result` around the current one
  for (WholeTree& tree : all) {
    while (!open.empty() && !is_within(tree.path, result[open.back()].path)) open.pop_back();
    if (!open.empty()) {
      const WholeTree& around = result[open.back()];
      if (around.read == tree.read && around.write == tree.write) continue;
    }
    open.push_back(result.size());
    result.push_back(std::move(tree));
  }
  std::sort(result.begin(), result.end(),
            [](const WholeTree& a, const WholeTree& b) { return a.path < b.path; });
  return result;
}

}  // namespace bulkhead
