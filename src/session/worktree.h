// Where git keeps the repository of a project whose ".git" is a file: of a linked worktree (git
// worktree add) and of a submodule that lies elsewhere.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// The repository's folder, canonical; empty where `workspace` has a folder ".git" or none, and
// where the repository does not name the workspace as its own. A project comes from elsewhere: its
// word alone, in a file that a package may hold, would open whatever it names.
std::string repository_of(const std::string& workspace);

// What grants the repositories of these workspaces for reading, and for writing, as far as
// `reads` and `writes`: none that lies in one of them. What the blocklists know of a folder ".git"
// holds in them by that name; where one is called otherwise, its hooks and settings are blocked
// here.
std::vector<Extra> repository_grants(const std::vector<std::string>& workspaces, bool reads,
                                     bool writes);

}  // namespace bulkhead
