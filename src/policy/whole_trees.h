// Which granted trees are granted whole: see WholeTree in policy.h. Pure.
#pragma once

#include <string>
#include <vector>

#include "policy/path_index.h"
#include "policy/policy.h"

namespace bulkhead {

// `concrete_grants`: the paths of the grants that name one tree each. Exact for concrete blocks,
// cautious for wildcards: a "**/…" block could match inside any tree. A tree is whole for writing
// only where no block of reading lies inside either, since a file that may be renamed freely leaves
// the block behind.
std::vector<WholeTree> find_whole_trees(const PathIndex& index,
                                        const std::vector<std::string>& concrete_grants);

}  // namespace bulkhead
