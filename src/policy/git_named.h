// Files of a workspace that git's configuration has it run, or read as more configuration: hooks
// elsewhere than usual, programs of filters, diffs, merges and of the file-system monitor, included
// files. Whoever writes them runs in the person's next `git status`, outside of every compartment.
#pragma once

#include <span>
#include <string>

#include "policy/manifest.h"

namespace bulkhead {

// What the repositories of these folders name (canonical paths), by their own configuration and by
// the user's in `home`, as blocks of writing that belong to the group "git-hooks". Read once: what
// a person sets later counts for what is started then. The configuration itself is blocked by name.
//
// What this does not find: files that a named program reads in turn, repositories deeper inside a
// folder, and settings that git gets from its environment.
Blocklist git_named(std::span<const std::string> workspace, const std::string& home);

}  // namespace bulkhead
