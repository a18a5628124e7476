// The symlinks of a tree, and what can be told of a symlink by its text alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace bulkhead {

// ".." after a name: where that leads depends on what the name is by then.
bool climbs_from_a_name(std::string_view target);

// A relative text without such "..", that read `depth` folders below the top of a tree stays in it.
bool stays_in_tree(std::string_view target, size_t depth);

// Calls `visit` with each symlink below `folder`'s entry `name` (itself included, as ""): its path
// below it and its text. Follows none. `visit` ends it all by returning false.
// 0; EXDEV where the tree is too large or deep to be looked at (who moves trees copies then);
// another errno where a part of it cannot be read.
using VisitLink = std::function<bool(const std::string& path, const std::string& target)>;
int for_each_symlink(int folder, const char* name, const VisitLink& visit);

}  // namespace bulkhead
