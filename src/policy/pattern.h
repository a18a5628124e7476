// Path patterns: one entry of files.* or run, taken apart. Pure.
//
//   /a/b              that file, or the tree below it
//   ${workspace}/a    the same, below each folder that the variable stands for
//   /a/*.log/b        "*" stands for any bytes (none included) within one component
//   **/a/b            "a" in any folder and "b" in it, or the tree below that
//   /a/\*             a backslash makes "*", "$" or a backslash an ordinary byte
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bulkhead {

struct Variables;

// Names that ${…} knows. ${tmp} is /tmp; the others are fields of Variables.
inline constexpr std::array<std::string_view, 9> kVariableNames = {
    "workspace", "extension", "storage", "home", "config", "state", "runtime", "bulkhead", "tmp"};

// In a component, this byte stands for "*": no component of a path can hold it.
inline constexpr char kStar = '/';

struct PathPattern {
  bool anywhere = false;                // "**/…": the components may start in any folder
  std::vector<std::string> components;  // none: "/"

  // No wildcard of either kind: exactly one tree.
  bool is_concrete() const;
  // "/a/b", "**/*.log"; wildcards shown as written, literal stars escaped.
  std::string text() const;
  // The path of a concrete pattern.
  std::string path() const;
};

struct ParsedPattern {
  std::string variable;  // "workspace"; empty where the entry names none
  PathPattern pattern;   // what follows the variable
};

// Refuses relative paths, "~", unknown variables, ".", "..", "//", a trailing slash, "**" anywhere
// but in front, NUL, unknown escapes, and more than 128 components.
Result<ParsedPattern> parse_pattern(std::string_view text);

// The values of a variable; none where it is empty. A value is a canonical path, taken literally.
std::vector<std::string> values_of(std::string_view variable, const Variables& variables);

// The value of a variable that has exactly one; null for others, and where there
// is no such variable.
const std::string* only_value(std::string_view variable, const Variables& variables);

// The pattern below `folder`, a canonical path taken literally.
PathPattern below(std::string_view folder, const PathPattern& pattern);

// The entry that names exactly this canonical path: escapes what a pattern would take for syntax.
std::string quote_path(std::string_view path);

// Does `text` match a component of a pattern?
bool component_matches(std::string_view glob, std::string_view text) noexcept;

}  // namespace bulkhead
