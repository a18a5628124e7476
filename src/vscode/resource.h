// Resource: a URI as it travels in the RPC (UriComponents), reduced to what decides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/nlohmann.h"

namespace bulkhead {

struct Resource {
  std::string scheme, authority, path, query, fragment;
  // On this machine's disk: "vscode-remote" with our authority, or "file".
  bool is_file = false;
};

// nullopt where the value is no UriComponents object. Its cached spellings (fsPath, external) are
// not looked at: VS Code believes those, so what passes on must have none (below).
std::optional<Resource> parse_resource(const nlohmann::ordered_json& value,
                                       const std::string& remote_authority);

// A URI as text, as VS Code's URI.parse() reads it, or an absolute path, as the components that it
// stands for. nullopt where the text is neither: a title, a name, a relative path. With
// `certainly`, where nobody would expect a title, "scheme:x" is one of any scheme.
std::optional<nlohmann::ordered_json> resource_text(const std::string& text,
                                                    bool certainly = false);

// Whether VS Code would make a URI of it: with its mark, or only with a URI's members.
bool is_resource_like(const nlohmann::ordered_json& value);

// Removes the cached spellings of every URI in the value, so that the other side makes its own.
// Returns how many objects it changed.
size_t strip_cached_spellings(nlohmann::ordered_json& value);

// The file's canonical path, symlinks resolved; of a file that is not there, its folder's with its
// name. nullopt where not even the folder is there, where ".." means one file to the kernel and
// another one to who folds it by name, or where the path is longer than the kernel takes
// (PATH_MAX).
std::optional<std::string> canonical_file(const std::string& path);

}  // namespace bulkhead
