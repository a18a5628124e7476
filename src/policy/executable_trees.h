// Which of the programs that may run the kernel can let start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// Trees that are granted for running and as a whole for reading. Landlock lets a file be executed
// only together with being read (LANDLOCK_ACCESS_FS_READ_FILE), so a rule for a tree with blocked
// files in it would give those away: programs there start only where they are granted by name.
// A tree of the compartment's own may be read as a whole where nothing of the machine's is in it.
std::vector<std::string> executable_trees(const Policy& policy);

// Whether the kernel is to let programs start in every tree that is readable as a whole: where that
// is granted, and where a person may still say yes during the run, for a ruleset cannot grow.
bool starts_what_it_reads(const Policy& policy);

// The compartment's own tree (/tmp) that has the canonical `path` in it and could be granted for
// running, whatever the machine has by that name. Empty: none.
std::string own_tree_of(const Policy& policy, std::string_view path);

// False where the policy lets the program at the canonical `path` run and the kernel will not: it
// lies in a runnable tree that may not be read as a whole.
bool can_start(const Policy& policy, std::string_view path);

// What is to be said then.
inline constexpr std::string_view kCannotStart =
    "not all of the tree that grants running it may be read, and the kernel lets programs start "
    "only with that: grant this program by itself";

}  // namespace bulkhead
