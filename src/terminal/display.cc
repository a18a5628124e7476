#include "terminal/display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace bulkhead {
namespace {

// One code point of valid UTF-8; an invalid byte stands for itself.
struct CodePoint {
  char32_t value;
  size_t bytes;
};

CodePoint next(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t size = first < 0x80 ? 1 : first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (size == 1 || size > text.size()) return {first, 1};
  char32_t value = first & (0xFFU >> (size + 1));
  for (size_t i = 1; i < size; ++i) value = (value << 6) | (byte(i) & 0x3FU);
  return {value, size};
}

size_t columns(char32_t c) {
  const auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  if (in(0x300, 0x36F) || in(0x1AB0, 0x1AFF) || in(0x20D0, 0x20FF) || in(0xFE20, 0xFE2F)) return 0;
  // Blocks of UAX #11 that are wide throughout, and the emoji that terminals draw wide.
  if (in(0x1100, 0x115F) || in(0x2E80, 0xA4CF) || in(0xAC00, 0xD7A3) || in(0xF900, 0xFAFF) ||
      in(0xFE30, 0xFE4F) || in(0xFF00, 0xFF60) || in(0xFFE0, 0xFFE6) || in(0x1F300, 0x1FAFF) ||
      in(0x20000, 0x3FFFD))
    return 2;
  return 1;
}

// How many bytes of `text` fit into `width` columns.
size_t bytes_that_fit(std::string_view text, size_t width) {
  size_t used = 0, at = 0;
  while (at < text.size()) {
    const CodePoint point = next(text.substr(at));
    if (used + columns(point.value) > width) break;
    used += columns(point.value);
    at += point.bytes;
  }
  return at;
}

}  // namespace

std::string_view terminal_kind() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0 ? std::string_view() : term;
}

size_t terminal_width(int fd) {
  if (const char* text = std::getenv("COLUMNS"); text != nullptr && *text != '\0') {
    size_t value = 0;
    const char* end = text + std::strlen(text);
    if (auto [stop, error] = std::from_chars(text, end, value);
        error == std::errc() && stop == end && value >= 20 && value <= 10000)
      return value;
  }
  struct winsize size = {};
  if (isatty(fd) == 0) return 0;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

bool wants_colour(int fd) {
  // https://no-color.org: present and not empty.
  if (const char* text = std::getenv("NO_COLOR"); text != nullptr && *text != '\0') return false;
  return isatty(fd) != 0 && !terminal_kind().empty();
}

std::string plain_screen() {
  const std::string_view kind = terminal_kind();
  if (kind.empty()) return "";
  std::string out;
  out += "\033\003";         // out of Tektronix' language, and its window
  out += "\030\033\\\033<";  // CAN and ST end a control string; out of VT52's language
  out += "\033[4i";          // to the screen, not to a printer
  // nor to the status line; and no pictures, which may lie above text. To tmux and screen the
  // latter would be a title, and they show none.
  if (kind != "linux") out += "\033[0$}";
  if (kind.starts_with("xterm")) out += "\033_Ga=d\033\\";
  out += "\033[?2026l\033[?25h";  // shown at once, with the cursor
  // Setting margins moves the cursor; without them the origin it is counted from is no matter.
  out += "\0337\033[?69l\033[r\0338";
  out += "\033[4l\033[?7h";          // nothing pushed aside, long lines go on below
  out += "\033%G\033(B\017\033[0m";  // UTF-8, ASCII; no colour, not hidden
  // The colours themselves: the palette, text and background.
  out += kind == "linux" ? "\033]R" : "\033]104\033\\\033]110\033\\\033]111\033\\";
  return out;
}

std::string paint(std::string_view text, Colour colour, bool on) {
  const char* code = nullptr;
  switch (colour) {
    case Colour::kNone:
      break;
    case Colour::kRed:
      code = "31";
      break;
    case Colour::kGreen:
      code = "32";
      break;
    case Colour::kYellow:
      code = "33";
      break;
    case Colour::kDim:
      code = "2";
      break;
    case Colour::kBold:
      code = "1";
      break;
  }
  if (!on || code == nullptr) return std::string(text);
  std::string out = "\033[";
  out.append(code).append("m").append(text).append("\033[0m");
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = next(text);
    width += columns(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  if (width == 1) return "…";
  // The end of a path, its file name, says more than the start: it gets the larger half.
  const size_t head = (width - 1) / 3;
  const size_t tail = width - 1 - head;
  std::string out(text.substr(0, bytes_that_fit(text, head)));
  out += "…";
  size_t at = 0;
  while (display_width(text.substr(at)) > tail) at += next(text.substr(at)).bytes;
  out += text.substr(at);
  return out;
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  width = std::max<size_t>(width, 1);
  while (!text.empty()) {
    // At least one character, or a wide one in a narrow column would never be passed.
    size_t size = std::max(bytes_that_fit(text, width), next(text).bytes);
    size_t skip = 0;
    if (size < text.size()) {
      if (const size_t space = text.substr(0, size + 1).rfind(' ');
          space != std::string_view::npos && space > 0) {
        size = space;
        skip = 1;
      }
    }
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(std::min(text.size(), size + skip));
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

}  // namespace bulkhead
