// Findings about a manifest that parses and compiles but says something else than it seems to.
#pragma once

#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// Unknown names, rules that another rule makes unreachable, grants that a block cancels in whole or
// in part, too wide grants (/, home, "*:*", shells and interpreters in `run`), sets that do not
// exist, writable trees that are also runnable. Sorted by line.
std::vector<Diagnostic> lint(const PolicyInputs& inputs, const Policy& policy);

// The flags of a command line that a block cancels as a whole, in sentences.
std::vector<std::string> idle_flags(const PolicyInputs& inputs, const Policy& policy);

}  // namespace bulkhead
