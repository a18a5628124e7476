// What a host says that a terminal of the window shows: results of tests, what a command in a chat
// put out. Such a terminal acts on control strings: one of them (OSC 52) writes the clipboard.
#pragma once

#include <string>
#include <string_view>

#include "base/nlohmann.h"

namespace bulkhead {

// Whether there may be control sequences in a JSON text.
bool may_control(std::string_view json);

// The text without control strings, or the beginning of one that does not end in it, also at its
// very end: the next text would go on with it. Colours and what moves the cursor (CSI) stay, where
// they are whole.
std::string plain_output(std::string_view text);

// The same in all texts of a value. The number of those that changed.
size_t plain_outputs(nlohmann::ordered_json& value);

}  // namespace bulkhead
