// Node's cache of compiled code, kept from run to run. tsc, eslint, prettier and others have Node
// keep what it compiled in the folder for temporary files (module.enableCompileCache), which in a
// compartment would be empty at each start: a twentieth of a second a run. VS Code's hosts do the
// same (vscode/launcher/compile_cache.cjs), a quarter of their start.
//
// What a run leaves there is code that later ones execute, and nothing tells whether Node compiled
// it: an entry counts where it names the checksum of a source that anybody may read. So whatever
// runs in a compartment, a package's script that npm starts too, can put its own code in the place
// of any program's, also of one in /usr that nobody there could change. Therefore a cache leads
// from one run to another only where both have the same rights: each user, subject and workspace
// has one for each policy, remembered answers included, in bulkhead's own state, where no
// compartment reaches it by its path. Audits, which hold nobody to a policy, have none.
//
// What that leaves: code that ran there once may stay, with the same rights and no others, after it
// is gone from the workspace, and see what later runs are given beside their rights: arguments,
// input, the values of variables. `bulkhead run` keeps none where a person may be asked, whose
// answers hold for that run alone. Hosts of extensions do keep theirs, and it is so with answers
// for one window.
//
// Its size is bounded as a run begins. While it lasts, what bounds it is limits.written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

struct NodeCacheOwner {
  std::string_view subject;
  std::vector<std::string> workspace;
  // Folders of this run's own that the next one has under other names: what the policy says of
  // them makes no difference.
  std::vector<std::string> passing = {};
};

// The cache for such runs of this user; none where the policy names no Node to run, or is not
// enforced. `state` is bulkhead's state folder, canonical. Makes nothing.
std::optional<KeptFolder> node_cache(const Policy& policy, Enforcement enforcement,
                                     const std::string& state, const NodeCacheOwner& owner);

// Makes the folder, or notes that it is used still, and empties it where it has grown too large.
// Where it is new, caches that nobody has used for thirty days are removed. False where it cannot
// be had, or another user made it: leave it out then, and Node compiles.
bool make_node_cache(const KeptFolder& cache);

}  // namespace bulkhead
