#include "vscode/terminal_text.h"

#include <algorithm>

namespace bulkhead {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kWide = '\xc2';  // before the controls of one byte, 0x80 to 0x9f

bool is_between(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= first && byte <= last;
}

// The length of ESC [ PARAMETERS INTERMEDIATES FINAL at the beginning; 0 where there is none.
size_t csi_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  size_t i = 2;
  while (i < text.size() && is_between(text[i], 0x30, 0x3f)) ++i;
  while (i < text.size() && is_between(text[i], 0x20, 0x2f)) ++i;
  return i < text.size() && is_between(text[i], 0x40, 0x7e) ? i + 1 : 0;
}

// The length of a control string (OSC, DCS, SOS, PM, APC) with its end; 0 where there is none.
size_t string_length(std::string_view text) {
  if (text.size() < 2 || std::string_view("]PX^_").find(text[1]) == std::string_view::npos)
    return 0;
  const size_t bell = text.find('\a'), end = text.find("\x1b\\", 2);
  if (end < bell) return end + 2;
  return bell == std::string_view::npos ? 0 : bell + 1;
}

}  // namespace

bool may_control(std::string_view json) {
  return json.find(kWide) != std::string_view::npos || json.find("\\u00") != std::string_view::npos;
}

std::string plain_output(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = csi_length(text.substr(i)); length > 0) {
      plain += text.substr(i, length);
      i += length;
    } else if (text[i] == kEscape) {
      i += std::max<size_t>(string_length(text.substr(i)), 1);
    } else if (text[i] == kWide && (i + 1 == text.size() || !is_between(text[i + 1], 0xa0, 0xbf))) {
      // Alone it would join with what follows.
      i += i + 1 < text.size() && is_between(text[i + 1], 0x80, 0x9f) ? 2 : 1;
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

size_t plain_outputs(nlohmann::ordered_json& value) {
  size_t changed = 0;
  if (value.is_string()) {
    std::string plain = plain_output(value.get_ref<const std::string&>());
    if (plain == value.get_ref<const std::string&>()) return 0;
    value = std::move(plain);
    return 1;
  }
  if (value.is_structured())
    for (auto& each : value) changed += plain_outputs(each);
  return changed;
}

}  // namespace bulkhead
