// Code: the editor's launcher, which is JavaScript (vscode/launcher/start.mjs): it edits VS
// Code's own JavaScript.
#pragma once

#include <string>
#include <vector>

namespace bulkhead {

// Becomes the launcher with these arguments. Returns an exit code where that could not be done.
int become_launcher(const std::vector<std::string>& arguments);

}  // namespace bulkhead
