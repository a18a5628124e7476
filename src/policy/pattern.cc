#include "policy/pattern.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/path.h"
#include "policy/policy.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxComponents = 128;  // bounds the matcher's recursion

// The finding travels as a Diagnostic without a place; the caller knows the place.
Error complain(std::string message, std::string fix) {
  Diagnostic diagnostic;
  diagnostic.message = message;
  diagnostic.fix = std::move(fix);
  return Error{std::move(message), 0, {std::move(diagnostic)}};
}

std::string shown(std::string_view text) { return escape_for_display(text.substr(0, 200)); }

// "*" → kStar, escapes resolved.
Result<std::string> parse_component(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') {
      if (i > 0 && text[i - 1] == '*' && result.back() == kStar)
        return complain("\"**\" stands only in front, as in \"**/name\"",
                        "write \"*\" for one component, or name the tree itself: a path covers "
                        "everything below it");
      result += kStar;
    } else if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '{') {
      return complain("a variable stands only at the start of a path",
                      "for a file with \"${\" in its name write \"\\\\${\"");
    } else if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '*' && text[i] != '\\' && text[i] != '$'))
        return complain("a backslash stands only before \"*\", \"$\" or another backslash",
                        "write \"/\" between folders, and \"\\\\\\\\\" in JSON for a backslash");
      result += text[i];
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

bool PathPattern::is_concrete() const {
  return !anywhere && std::all_of(components.begin(), components.end(), [](const std::string& c) {
    return c.find(kStar) == std::string::npos;
  });
}

std::string PathPattern::text() const {
  std::string result = anywhere ? "**" : "";
  for (const std::string& component : components) {
    result += '/';
    for (size_t i = 0; i < component.size(); ++i) {
      const char c = component[i];
      const bool variable = c == '$' && i + 1 < component.size() && component[i + 1] == '{';
      if (c == '*' || c == '\\' || variable) result += '\\';
      result += c == kStar ? '*' : c;
    }
  }
  return result.empty() ? "/" : result;
}

std::string PathPattern::path() const {
  std::string result;
  for (const std::string& component : components) {
    result += '/';
    result += component;
  }
  return result.empty() ? "/" : result;
}

Result<ParsedPattern> parse_pattern(std::string_view text) {
  ParsedPattern result;
  if (text.find('\0') != std::string_view::npos)
    return complain("a path holds a NUL byte", "remove it");
  if (!text.empty() && text[0] == '~')
    return complain("\"~\" is not expanded",
                    fmt::format("write \"${{home}}{}\"",
                                shown(text.substr(std::min(text.find('/'), text.size())))));
  std::string_view rest = text;
  if (rest.substr(0, 2) == "${") {
    const size_t end = rest.find('}');
    const std::string_view name =
        rest.substr(2, end == std::string_view::npos ? std::string_view::npos : end - 2);
    if (end == std::string_view::npos ||
        std::find(kVariableNames.begin(), kVariableNames.end(), name) == kVariableNames.end()) {
      std::string known;
      for (const std::string_view each : kVariableNames) known += fmt::format(" ${{{}}}", each);
      return complain(
          fmt::format("unknown variable \"${{{}\"",
                      shown(end == std::string_view::npos ? name : rest.substr(2, end - 1))),
          "known are" + known);
    }
    result.variable = name;
    rest.remove_prefix(end + 1);
    if (rest.empty()) return result;
    if (rest[0] != '/')
      return complain(fmt::format("\"${{{}}}\" must be followed by \"/\" or nothing", name),
                      fmt::format("write \"${{{}}}/{}\"", name, shown(rest)));
  } else if (rest == "**" || rest == "**/" || rest == "**/*" || rest == "**/**") {
    return complain("matches every file", "name what is meant; \"/\" is the whole file system");
  } else if (rest.substr(0, 3) == "**/") {
    result.pattern.anywhere = true;
    rest.remove_prefix(2);
  } else if (rest.empty() || rest[0] != '/') {
    bool above = false;
    for (; rest.starts_with("./") || rest.starts_with("../");
         rest.remove_prefix(rest.find('/') + 1))
      above = above || rest.starts_with("../");
    const std::string anywhere = fmt::format("\"**/{}\" for any folder", shown(rest));
    return complain("a path must be absolute",
                    above
                        ? fmt::format("write the whole path, or {}", anywhere)
                        : fmt::format("write \"${{workspace}}/{}\", or {}", shown(rest), anywhere));
  }
  if (rest == "/") {
    if (result.variable.empty()) return result;
    return complain("a path must not end with \"/\"",
                    fmt::format("write \"${{{}}}\"", result.variable));
  }
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the slash
    const std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(component.size());
    if (component.empty())
      return rest.empty()
                 ? complain("a path must not end with \"/\"",
                            fmt::format("write \"{}\": it covers the folder and all below it",
                                        shown(text.substr(0, text.size() - 1))))
                 : complain("a path must not hold \"//\"", "write one \"/\"");
    if (component == "." || component == "..")
      return complain(fmt::format("a path must not hold \"{}\"", component),
                      "write the path without it");
    BULKHEAD_TRY(std::string parsed, parse_component(component));
    result.pattern.components.push_back(std::move(parsed));
    if (result.pattern.components.size() > kMaxComponents)
      return complain(fmt::format("more than {} components", kMaxComponents),
                      "name a folder above");
  }
  const auto all_stars = [](const std::string& c) { return c == std::string(1, kStar); };
  if (result.pattern.anywhere &&
      std::all_of(result.pattern.components.begin(), result.pattern.components.end(), all_stars))
    return complain("matches nearly every file", "name what is meant");
  return result;
}

const std::string* only_value(std::string_view variable, const Variables& variables) {
  static const std::string kTmp = "/tmp";
  const std::string* value = nullptr;
  if (variable == "home") value = &variables.home;
  if (variable == "workspace" && variables.workspace.size() == 1) value = &variables.workspace[0];
  if (variable == "extension") value = &variables.extension;
  if (variable == "storage") value = &variables.storage;
  if (variable == "config") value = &variables.config;
  if (variable == "state") value = &variables.state;
  if (variable == "runtime") value = &variables.runtime;
  if (variable == "bulkhead" && variables.bulkhead.size() == 1) value = &variables.bulkhead[0];
  if (variable == "tmp") value = &kTmp;
  return value == nullptr || value->empty() ? nullptr : value;
}

std::vector<std::string> values_of(std::string_view variable, const Variables& variables) {
  if (variable == "workspace") return variables.workspace;
  if (variable == "bulkhead") return variables.bulkhead;
  const std::string* value = only_value(variable, variables);
  if (value == nullptr) return {};
  return {*value};
}

PathPattern below(std::string_view folder, const PathPattern& pattern) {
  PathPattern result;
  while (folder.size() > 1) {  // "/" alone has no component
    folder.remove_prefix(1);
    const std::string_view component = folder.substr(0, folder.find('/'));
    result.components.emplace_back(component);
    folder.remove_prefix(component.size());
  }
  result.components.insert(result.components.end(), pattern.components.begin(),
                           pattern.components.end());
  return result;
}

std::string quote_path(std::string_view path) {
  std::string result;
  for (size_t i = 0; i < path.size(); ++i) {
    const bool variable = path[i] == '$' && i + 1 < path.size() && path[i + 1] == '{';
    if (path[i] == '*' || path[i] == '\\' || variable) result += '\\';
    result += path[i];
  }
  return result;
}

bool component_matches(std::string_view glob, std::string_view text) noexcept {
  // Greedy with one point of return: right because "*" is the only wildcard.
  size_t g = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == kStar) {
      star = g++;
      mark = t;
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == kStar) ++g;
  return g == glob.size();
}

}  // namespace bulkhead
