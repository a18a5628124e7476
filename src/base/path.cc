#include "base/path.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace bulkhead {

std::string normalize(std::string_view path) {
  std::string result;
  result.reserve(path.size() + 1);
  while (!path.empty()) {
    const std::string_view component = take_component(&path);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      const size_t slash = result.rfind('/');
      result.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    result += '/';
    result += component;
  }
  if (result.empty()) result.push_back('/');  // g++ 12 sees an overlap in assigning "/"
  return result;
}

bool is_canonical(std::string_view path) noexcept {
  if (path == "/") return true;
  if (path.empty() || path[0] != '/') return false;
  size_t i = 0;
  while (i < path.size()) {
    const size_t begin = i + 1;
    size_t end = path.find('/', begin);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view component = path.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    i = end;
  }
  return true;
}

std::string join(std::string_view base, std::string_view name) {
  if (!name.empty() && name[0] == '/') return normalize(name);
  std::string text(base);
  text += '/';
  text += name;
  return normalize(text);
}

bool is_within(std::string_view path, std::string_view tree) noexcept {
  if (tree == "/") return true;
  if (path.size() < tree.size() || path.substr(0, tree.size()) != tree) return false;
  return path.size() == tree.size() || path[tree.size()] == '/';
}

std::string_view take_component(std::string_view* path) noexcept {
  const size_t from = std::min(path->find_first_not_of('/'), path->size());
  const size_t end = std::min(path->find('/', from), path->size());
  const std::string_view component = path->substr(from, end - from);
  path->remove_prefix(end);
  return component;
}

std::string_view parent_of(std::string_view path) noexcept {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "/";
  return path.substr(0, slash);
}

std::string_view last_of(std::string_view path) noexcept {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

namespace {

// Decodes one UTF-8 sequence; returns its length, or 0 where it is not valid.
size_t decode(std::string_view text, uint32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  size_t length = 0;
  uint32_t value = 0;
  if (lead < 0x80) {
    *code = lead;
    return 1;
  }
  if (lead >= 0xC2 && lead < 0xE0) {
    length = 2;
    value = lead & 0x1FU;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    length = 3;
    value = lead & 0x0FU;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    length = 4;
    value = lead & 0x07U;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
  *code = value;
  return length;
}

// Code points that a terminal or an editor does not show, or that reorder what it shows.
bool is_deceptive(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x34F || c == 0x61C ||
         (c >= 0x115F && c <= 0x1160) || (c >= 0x17B4 && c <= 0x17B5) ||
         (c >= 0x180B && c <= 0x180F) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0x3164 ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || c == 0xFFA0 ||
         (c >= 0xFFF0 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

}  // namespace

std::string escape_for_display(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t length = decode(text, &code);
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (code == '\\') {
      result += "\\\\";
    } else if (is_deceptive(code)) {
      result += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{{{:x}}}", code);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace bulkhead
