#include "vscode/resource.h"

#include <cstdlib>
#include <memory>

#include "base/path.h"

namespace bulkhead {
namespace {

using nlohmann::ordered_json;

bool take(const ordered_json& object, const char* key, std::string* into) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return true;
  if (!it->is_string()) return false;
  *into = it->get<std::string>();
  return true;
}

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

// As the kernel would: links are followed before ".." is folded.
std::optional<std::string> followed(const std::string& path) {
  if (auto real = real_path(path)) return real;
  // ".." in the part that is not there would be folded by name: refuse to guess.
  std::string_view rest = path;
  while (rest.size() > 1 && rest.back() == '/') rest.remove_suffix(1);
  std::string below;
  for (int depth = 0; depth < 64 && rest != "/"; ++depth) {
    const std::string_view name = last_of(rest);
    if (name.empty() || name == "." || name == "..") return std::nullopt;
    below = "/" + std::string(name) + below;
    rest = parent_of(rest);
    if (auto real = real_path(std::string(rest))) return (*real == "/" ? "" : *real) + below;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Resource> parse_resource(const ordered_json& value,
                                       const std::string& remote_authority) {
  if (!value.is_object()) return std::nullopt;
  Resource resource;
  if (!take(value, "scheme", &resource.scheme) || !take(value, "authority", &resource.authority) ||
      !take(value, "path", &resource.path) || !take(value, "query", &resource.query) ||
      !take(value, "fragment", &resource.fragment) || resource.scheme.empty())
    return std::nullopt;
  if (resource.path.find('\0') != std::string::npos) return std::nullopt;
  std::string cached;
  if (!take(value, "fsPath", &cached)) return std::nullopt;
  resource.is_file = (resource.scheme == "file" && resource.authority.empty()) ||
                     (resource.scheme == "vscode-remote" && resource.authority == remote_authority);
  return resource;
}

size_t strip_cached_spellings(ordered_json& value) {
  size_t changed = 0;
  if (value.is_object()) {
    // With or without its mark: who expects a resource makes one of whatever has these members.
    const auto mid = value.find("$mid");
    if ((mid != value.end() && *mid == 1) || value.contains("scheme"))
      changed += value.erase("fsPath") + value.erase("external") + value.erase("_sep") > 0 ? 1 : 0;
  }
  if (value.is_structured())
    for (auto& child : value) changed += strip_cached_spellings(child);
  return changed;
}

std::optional<std::string> canonical_file(const std::string& path) {
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) return std::nullopt;
  auto file = followed(path);
  // VS Code folds ".." by name, the kernel follows links first: where these are different files,
  // only one of them would be judged.
  if (path.find("/..") != std::string::npos && file != followed(normalize(path)))
    return std::nullopt;
  return file;
}

}  // namespace bulkhead
