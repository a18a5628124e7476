// Frozen: what the files of manifests/ say, parsed when bulkhead was built. A start would else
// spend more time on their JSON than on anything else. They stay the source: a file that is not,
// byte for byte, the one that was frozen is parsed (config.cc).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "policy/manifest.h"

namespace bulkhead {

struct FrozenFile {
  std::string_view name;    // below manifests/: "sets/node.json"
  std::string_view bytes;   // of the whole file
  std::string_view frozen;  // what it says
};
// Written by freeze_tool.cc.
std::span<const FrozenFile> frozen_files() noexcept;

// freeze() loses nothing but each entry's Location::file, which thaw() sets to `file`. thaw() takes
// what freeze() gave for the same type, and nothing else.
std::string freeze(const Manifest& manifest);
std::string freeze(const Blocklist& blocklist);
std::string freeze(const Sets& sets);
void thaw(std::string_view frozen, const std::string& file, Manifest& manifest);
void thaw(std::string_view frozen, const std::string& file, Blocklist& blocklist);
void thaw(std::string_view frozen, const std::string& file, Sets& sets);

}  // namespace bulkhead
