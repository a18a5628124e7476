// Shared settings: a file of settings that a private home starts with, made of the user's own.
// Written anew at each start, so that it says what the user's says, until a program there changes
// it: then it is the program's.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace bulkhead {

// The text of a regular file of at most `most` bytes; nothing where there is none.
std::optional<std::string> read_settings(const std::string& file, size_t most);

// Writes `settings`, with a mark in a comment ("# …") that tells them from a program's own, to
// `name` in `store`, where nothing can be trusted: a link or a device by that name is replaced,
// never followed; a folder stays. Empty settings are not written.
Status share_settings(const std::string& settings, const std::string& store, const char* name);

}  // namespace bulkhead
