// What a compartment left in a folder of bulkhead's own that outlives it: names, links and modes
// are the program's choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bulkhead {

// Not of another's making, which could lead elsewhere or hold another user's code; root comes to
// the state of the user who called sudo.
bool is_own_folder(const std::string& path);

// Whatever the programs left in there: links are removed, not followed, and folders that they may
// not have let themselves list are listed. Not the folder itself, which another run may be about to
// mount.
void remove_content(const std::string& folder);

struct ContentSize {
  uint64_t bytes = 0, files = 0;
};
// What it takes. No more than `most_files` + 1 are looked at; nullopt where some cannot be.
std::optional<ContentSize> size_of_content(const std::string& folder, uint64_t most_files);

}  // namespace bulkhead
