#include "vscode/style_text.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "policy/extension_id.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

// VS Code quotes the first, renders the second as Markdown, and escapes the others.
bool is_no_style(const std::string& key) {
  return key == "contentText" || key == "hoverMessage" || key == "contentIconPath" ||
         key == "gutterIconPath";
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

}  // namespace

bool is_plain_style(std::string_view value, bool may_fetch) {
  char quote = 0;
  int open = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (is_control(c) || c == '{' || c == '}' || c == '\\') return false;
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(') {
      ++open;
    } else if (c == ')') {
      if (--open < 0) return false;
    } else if (c == '/' && i + 1 < value.size() && value[i + 1] == '*') {
      return false;
    }
  }
  if (quote != 0 || open != 0) return false;
  if (may_fetch) return true;
  const std::string lower = lower_case(value);
  for (const char* fetches : {"url(", "src(", "image(", "image-set(", "cross-fade("})
    if (lower.find(fetches) != std::string::npos) return false;
  return true;
}

bool is_style_name(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

size_t strip_styles(Json& options, bool may_fetch) {
  size_t changed = 0;
  if (options.is_array())
    for (Json& each : options) changed += strip_styles(each, may_fetch);
  if (!options.is_object()) return changed;
  for (auto member = options.begin(); member != options.end();) {
    if (is_no_style(member.key())) {
      ++member;
    } else if (member->is_string() &&
               !is_plain_style(member->get_ref<const std::string&>(), may_fetch)) {
      member = options.erase(member);
      ++changed;
    } else {
      changed += strip_styles(*member, may_fetch);
      ++member;
    }
  }
  return changed;
}

size_t strip_badges(Json& decorations) {
  size_t changed = 0;
  if (!decorations.is_object()) return changed;
  const auto is_named = [](const Json& one) {
    const auto id = one.find("id");
    return id != one.end() && id->is_string() && is_style_name(id->get_ref<const std::string&>());
  };
  for (Json& decoration : decorations) {
    if (!decoration.is_array()) continue;
    for (size_t i = 2; i < decoration.size(); ++i) {
      Json& part = decoration[i];
      const bool plain =
          part.is_object() ? is_named(part)
          : part.is_string()
              ? part.get_ref<const std::string&>().find_first_of("\"\\\n\r\f") == std::string::npos
              : true;
      if (plain) continue;
      part = nullptr;
      ++changed;
    }
  }
  return changed;
}

}  // namespace bulkhead
