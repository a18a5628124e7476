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

// Where VS Code wants one value it writes a list as a text.
bool is_written(const Json& list) {
  return std::any_of(list.begin(), list.end(), [](const Json& each) { return !each.is_object(); });
}

bool is_quotable(const Json& text) {
  return text.is_string() &&
         text.get_ref<const std::string&>().find_first_of("\"\\\n\r\f") == std::string::npos;
}

// An icon or a colour of the theme, by its name and nothing else; or none.
Json named(const Json& one) {
  const auto id = one.is_object() ? one.find("id") : one.end();
  if (id == one.end() || !id->is_string() || !is_style_name(id->get_ref<const std::string&>()))
    return nullptr;
  return {{"id", *id}};
}

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
    } else if ((member->is_string() &&
                !is_plain_style(member->get_ref<const std::string&>(), may_fetch)) ||
               (member->is_array() && is_written(*member))) {
      member = options.erase(member);
      ++changed;
    } else {
      changed += strip_styles(*member, may_fetch);
      ++member;
    }
  }
  return changed;
}

void strip_badges(Json& decorations) {
  if (!decorations.is_object()) decorations = Json::object();  // the window takes lists by number
  for (Json& decoration : decorations) {
    if (!decoration.is_array()) {
      decoration = nullptr;
      continue;
    }
    decoration.get_ref<Json::array_t&>().resize(4);
    Json &spreads = decoration[0], &tooltip = decoration[1], &letter = decoration[2];
    if (!spreads.is_boolean()) spreads = nullptr;
    if (!tooltip.is_string()) tooltip = nullptr;
    if (!is_quotable(letter)) letter = named(letter);
    decoration[3] = named(decoration[3]);
  }
}

}  // namespace bulkhead
