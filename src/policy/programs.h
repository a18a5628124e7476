// Programs on this machine: where a name is found, and what a script is run by. Reads the file
// system; used while a policy is compiled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// The first executable regular file of that name in `search_path`, links followed.
std::optional<std::string> find_program(const std::string& name,
                                        const std::vector<std::string>& search_path);

// The interpreters of a script, links followed, in the order that they start: for "#!/usr/bin/env
// node" env, then node from the search path; for one that is itself a script, its interpreter too.
// Empty for other files. What does not exist is left out.
std::vector<std::string> interpreters_of(const std::string& file,
                                         const std::vector<std::string>& search_path);

// The absolute folders of PATH, in order.
std::vector<std::string> split_search_path(std::string_view text);

}  // namespace bulkhead
