// Code: the editor's launcher, which is JavaScript (vscode/launcher/start.mjs): it edits VS
// Code's own JavaScript.
#pragma once

#include <string>
#include <vector>

#include "policy/config.h"

namespace bulkhead {

// The Node that `make code` installs, or of an installed bulkhead the first `bulkhead code` or
// `bulkhead eval --install`, else one in PATH; empty where there is none. BULKHEAD_NODE names
// another.
std::string find_node(const Places& places);

// Of an installed bulkhead: the command that fetches the user's own copy of what `option` names
// (scripts/editor) where it is not there, and then becomes it, with the arguments that follow.
// Empty where nothing is to be fetched.
std::vector<std::string> fetching(const Places& places, const char* option);

// Becomes the program `words.front()`. Returns only where that failed, with why.
std::string execute(std::vector<std::string>& words);

// Becomes the launcher with these arguments. Returns an exit code where that could not be done.
int become_launcher(const std::vector<std::string>& arguments);

}  // namespace bulkhead
