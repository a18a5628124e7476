// SearchPath: what a person's PATH says about where their tools are. A folder that a person put
// there holds programs that they start every day, so a program without a manifest may read and run
// them.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// The trees that PATH names beyond the system's: each folder itself, and of ".../X/bin" the whole
// of X where X/lib stands beside it, since programs in bin load what lies there. Canonical, sorted,
// each once. Left out is what nobody means by a toolchain: a home folder, one that holds a home or
// a workspace, one that everybody shares, and what others may write.
std::vector<std::string> toolchains_in(const std::vector<std::string>& search_path,
                                       const Variables& variables);

}  // namespace bulkhead
