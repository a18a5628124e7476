// What of a user's npm configuration (~/.npmrc) an untrusted program's npm may have: which registry
// it asks and how it installs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace bulkhead {

// A configuration with those settings of `text` that are known to be harmless, written anew. What
// is not known is left out: tokens and passwords (//host/:_authToken and its kind), certificates'
// keys, programs (script-shell, git, editor, onload-script), and each value in which a password
// could stand (an address with "@") or that is made of a variable (${TOKEN}).
//
// Pure; of npm's own format (ini), as npm help npmrc describes it.
std::string harmless_npm_settings(std::string_view text);

// Writes those of `home`'s ~/.npmrc to ~/.npmrc in `store`, the private home of a compartment, in
// which nothing can be trusted, where nothing of that name is there yet or only what an earlier
// start wrote.
Status share_npm_settings(const std::string& home, const std::string& store);

}  // namespace bulkhead
