// JsonTree: the one way in which JSON that somebody else wrote becomes a tree. One pass, which
// refuses what JSON.parse would and what is too costly to build (json_text.h). Pure.
#pragma once

#include <string_view>

#include "base/nlohmann.h"

namespace bulkhead {

// Discarded where the text is no JSON, ends within, goes on, is no UTF-8, has half of a surrogate
// pair or a number that no double holds, or is not moderate. Of members of one name the last one
// counts, in the place of the first, as in JSON.parse. An integer beyond 64 bits is the double next
// to it.
//
// For nlohmann::ordered_json and nlohmann::json. Where its own reader makes a tree, this is the
// same one, apart from a zero byte after the value, which that reader takes for the end, and a byte
// order mark before it, which that one steps over and VS Code does not (fuzz/rpc).
template <class Tree = nlohmann::ordered_json>
Tree parse_json(std::string_view json);

}  // namespace bulkhead
