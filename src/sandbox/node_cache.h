// Node's cache of compiled code, kept from run to run. tsc, eslint, prettier and others have Node
// keep what it compiled in the folder for temporary files (module.enableCompileCache), which in a
// compartment would be empty at each start: a twentieth of a second a run. VS Code's hosts do the
// same (vscode/launcher/compile_cache.cjs), a quarter of their start.
//
// Each subject has one for each workspace, in bulkhead's own state, where no compartment reaches it
// by its path. What a run leaves there is code that later ones execute, so it never leads from one
// program or one workspace to another; within them, a program could as well change itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "sandbox/plan.h"

namespace bulkhead {

// The cache for `subject`'s runs in `workspace`; none where the policy names no Node to run.
// `state` is bulkhead's state folder, canonical. Makes nothing.
std::optional<KeptFolder> node_cache(const Policy& policy, const std::string& state,
                                     std::string_view subject,
                                     const std::vector<std::string>& workspace);

// Makes the folder, or notes that it is used still. Where it is new, caches that nobody has used
// for thirty days are removed. False where it cannot be had: leave it out then, and Node compiles.
bool make_node_cache(const KeptFolder& cache);

}  // namespace bulkhead
