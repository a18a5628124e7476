// Shipped: what this program carries within itself of manifests/, for who has a manifest and no
// installation: no file is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

struct ShippedRules {
  bool essentials = true;  // /dev/null and its kind
  bool blocklist = true;   // the built-in one
};

// The policy of a manifest, of these rules and of what `inputs` holds besides (variables, extras).
// A program's /tmp and /dev/shm are its own, unless the manifest grants the machine's.
Result<std::shared_ptr<const Policy>> compile_manifest(const ManifestBytes& manifest,
                                                       const ShippedRules& rules,
                                                       PolicyInputs inputs);

// The sets that are asked for by name, without "@".
std::vector<std::string> sets_named(const PolicyInputs& inputs);

}  // namespace bulkhead
