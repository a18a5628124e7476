// What a host writes into the style sheets of the whole window: the looks of decorations, which VS
// Code puts into rules as they are. A brace ends the rule, or nests one that is for everything; a
// quote or a bracket that stays open takes in what follows.
#pragma once

#include <string_view>

#include "base/nlohmann.h"

namespace bulkhead {

// Whether a text stays one value of one rule. Without `may_fetch` it fetches nothing either.
bool is_plain_style(std::string_view value, bool may_fetch);

// A name that may stand in a selector or in a variable's name.
bool is_style_name(std::string_view name) noexcept;

// Takes what is not plain out of a text decoration's options. Returns how much that was.
size_t strip_styles(nlohmann::ordered_json& options, bool may_fetch);

// Leaves of an answer about files what it is to hold: id → [whether folders show it too, tooltip,
// letter or icon, colour].
void strip_badges(nlohmann::ordered_json& decorations);

}  // namespace bulkhead
