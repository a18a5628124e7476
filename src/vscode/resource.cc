#include "vscode/resource.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/path.h"
#include "policy/links.h"

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

// What is no link, or not there, is in its real folder by its own name: one look at it, where
// realpath() would begin anew for what is not there. nullopt where that does not say it all.
std::optional<std::string> below_its_folder(const std::string& path) {
  const std::string_view name = last_of(path);
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  auto real = real_path(std::string(parent_of(path)));
  if (!real) return std::nullopt;
  if (*real == "/") real->clear();
  real->append("/").append(name);
  char target = 0;
  const bool is_link = ::readlink(real->c_str(), &target, 1) >= 0;
  return !is_link && (errno == EINVAL || errno == ENOENT) ? real : std::nullopt;
}

// As the kernel would: links are followed before ".." is folded.
std::optional<std::string> followed(const std::string& path) {
  if (has_no_links(path)) return path;
  if (auto real = below_its_folder(path)) return real;
  if (auto real = real_path(path)) return real;
  // ".." in the part that is not there would be folded by name: refuse to guess.
  std::string_view rest = path;
  while (rest.size() > 1 && rest.back() == '/') rest.remove_suffix(1);
  std::string below;
  for (int depth = 0; depth < 64 && rest != "/"; ++depth) {
    const std::string_view name = last_of(rest);
    if (name.empty() || name == "." || name == "..") return std::nullopt;
    below.insert(0, name).insert(0, 1, '/');
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
  // VS Code's server looks at no authority: another one is another name for the same file. And by
  // one path it gives whatever file the query names.
  const bool is_remote = resource.scheme == "vscode-remote";
  resource.is_file = is_remote || resource.scheme == "file";
  if (resource.is_file && (resource.authority != (is_remote ? remote_authority : "") ||
                           normalize(resource.path) == "/vscode-resource"))
    return std::nullopt;
  return resource;
}

namespace {

// As VS Code has them, which is more than RFC 3986 allows.
bool is_scheme(std::string_view text) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && is_word(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [&](unsigned char c) {
           return is_word(c) || c == '+' || c == '-' || c == '.';
         });
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What is no valid escape stays as it is, as in VS Code.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

}  // namespace

std::optional<ordered_json> resource_text(const std::string& text, bool certainly) {
  if (text.starts_with('/')) return ordered_json{{"scheme", "file"}, {"path", text}};
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !is_scheme(std::string_view(text).substr(0, colon)))
    return std::nullopt;
  std::string scheme = text.substr(0, colon);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view rest = std::string_view(text).substr(colon + 1);
  // "Changes: a.txt" is a title; "file:a.txt" is a file whoever says it.
  if (!rest.starts_with('/') && !certainly && scheme != "file" && scheme != "vscode-remote" &&
      scheme != "untitled" && scheme != "code-oss")
    return std::nullopt;
  std::string authority;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const size_t end = rest.find_first_of("/?#");
    authority = without_escapes(rest.substr(0, end));
    rest.remove_prefix(std::min(end, rest.size()));
  }
  std::string path = without_escapes(rest.substr(0, rest.find_first_of("?#")));
  if (!path.starts_with('/') && scheme != "untitled") path.insert(path.begin(), '/');
  return ordered_json{{"scheme", scheme}, {"authority", authority}, {"path", path}};
}

bool is_resource_like(const ordered_json& value) {
  if (!value.is_object()) return false;
  const auto mid = value.find("$mid");
  if (mid != value.end() && *mid == 1) return true;
  const auto scheme = value.find("scheme");
  return scheme != value.end() && scheme->is_string() &&
         (value.contains("path") || value.contains("authority"));
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
  if (path.size() >= PATH_MAX) return std::nullopt;  // the kernel knows none, VS Code may fold it
  auto file = followed(path);
  // VS Code folds ".." by name, the kernel follows links first: where these are different files,
  // only one of them would be judged.
  if (path.find("/..") != std::string::npos && file != followed(normalize(path)))
    return std::nullopt;
  return file;
}

}  // namespace bulkhead
