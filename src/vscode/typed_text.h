// What an extension says that the window types by itself, in every document of a language: what
// closes a bracket or a quote, begins a comment, or comes on the next line. Those documents may be
// any of the user's, and a shell's script among them.
#pragma once

#include <string_view>

#include "base/nlohmann.h"

namespace bulkhead {

// Signs, or one word with signs about it: what languages have ("*/", "end", "{% comment %}"), and
// too little to say what to do.
bool is_typed_mark(std::string_view text) noexcept;

// Takes out of a language's configuration, or of arguments with one in it, what is more. Returns
// how much that was. The workbench does the same for packages (vscode/workbench/declarations.js).
size_t strip_typed(nlohmann::ordered_json& configuration);

}  // namespace bulkhead
