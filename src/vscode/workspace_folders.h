// The folders of a window's workspace, as canonical paths: what ${workspace} stands for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace bulkhead {

// What is granted whole only to who says so: policy/homes.
struct WholeFolders {
  std::vector<std::string> homes;  // canonical, as of find_homes(), and the user's own
  std::string named;               // the one that a person named to be granted (--workspace)
};

// `folder`, or those that the .code-workspace file `workspace` names; both may be empty. A folder
// that is gone is left out; one that is no project (why_no_project) and not named is an error, as
// is a file that cannot be read. The file is JSON with comments and trailing commas, as VS Code's
// own reader takes it; relative paths start at its folder.
Result<std::vector<std::string>> workspace_folders(const std::string& folder,
                                                   const std::string& workspace,
                                                   const WholeFolders& whole);

}  // namespace bulkhead
