#include "vscode/typed_text.h"

#include <algorithm>
#include <string>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongest = 20;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Patterns, which are compared with what stands there.
bool is_pattern(const std::string& key) {
  return key == "beforeText" || key == "afterText" || key == "previousLineText";
}

bool is_plain(const Json& value) {
  if (value.is_string()) return is_typed_mark(value.get_ref<const std::string&>());
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_plain);
  if (!value.is_object()) return true;
  for (const auto& [key, each] : value.items())
    if (!is_pattern(key) && !is_plain(each)) return false;
  return true;
}

bool types(const std::string& key) {
  for (const char* typed :
       {"comments", "brackets", "onEnterRules", "autoClosingPairs", "surroundingPairs",
        "colorizedBracketPairs", "__electricCharacterSupport", "__characterPairSupport"})
    if (key == typed) return true;
  return false;
}

}  // namespace

bool is_typed_mark(std::string_view text) noexcept {
  if (text.size() > kLongest) return false;
  size_t words = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\t') return false;
    if (is_word(text[i]) && (i == 0 || !is_word(text[i - 1]))) ++words;
  }
  return words < 2;
}

size_t strip_typed(Json& configuration) {
  size_t changed = 0;
  if (configuration.is_array())
    for (Json& each : configuration) changed += strip_typed(each);
  if (!configuration.is_object()) return changed;
  for (auto& [key, value] : configuration.items()) {
    if (!types(key) || is_plain(value)) continue;
    ++changed;
    if (!value.is_structured()) {
      value = nullptr;
      continue;
    }
    Json kept = value.is_array() ? Json::array() : Json::object();
    for (auto& [name, each] : value.items()) {
      if (!is_plain(each)) continue;
      if (kept.is_array())
        kept.push_back(std::move(each));
      else
        kept[name] = std::move(each);
    }
    value = std::move(kept);
  }
  return changed;
}

}  // namespace bulkhead
