// What an untrusted program's git may write into a repository's own settings (.git/config), which
// the person's git obeys outside.
#pragma once

#include <string_view>

#include "base/result.h"

namespace bulkhead {

// Ok where the settings `after` may take the place of `before` ("" where there were none): what is
// new in them names no program, no place to look for one, and no other address for a remote that is
// there. Settings that are not known to be harmless must be the same as before, in the same order.
// An error says which one is not. What git could read in another way than this does is refused.
// Pure.
Status judge_repository_config(std::string_view before, std::string_view after);

}  // namespace bulkhead
