// What an extension calls itself. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bulkhead {

// publisher.name, as the marketplace has it: letters, digits, "-", "_"; dots in the name only. So
// it can be the name of a file.
inline bool is_extension_id(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto ok = [&](char c) { return alphanumeric(c) || c == '-' || c == '_'; };
  const size_t dot = text.find('.');
  if (text.size() > 256 || dot == std::string_view::npos || dot == 0) return false;
  const std::string_view publisher = text.substr(0, dot), name = text.substr(dot + 1);
  return !name.empty() && alphanumeric(publisher[0]) && alphanumeric(name[0]) &&
         std::all_of(publisher.begin(), publisher.end(), ok) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return ok(c) || c == '.'; });
}

// Two spellings that differ in the case of letters are one extension.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace bulkhead
