#include "terminal/keyboard_modes.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>

#include "terminal/display.h"

namespace bulkhead {
namespace {

// Longer ones are no mode's.
constexpr size_t kLongest = 256;

// Calls `take` with each number of "1;2;3"; none is 0.
template <class Take>
void each_number(std::string_view text, Take take) {
  while (true) {
    const size_t end = std::min(text.find(';'), text.size());
    int number = 0;
    std::from_chars(text.data(), text.data() + end, number);
    take(number);
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

size_t place_of(int mode) {
  const auto& all = KeyboardModes::kPrivate;
  return static_cast<size_t>(std::find(all.begin(), all.end(), mode) - all.begin());
}

template <class Bits>
std::string private_modes(const Bits& which, char how) {
  std::string out;
  for (size_t i = 0; i < which.size(); ++i)
    if (which[i])
      out += (out.empty() ? "\033[?" : ";") + std::to_string(KeyboardModes::kPrivate[i]);
  if (!out.empty()) out += how;
  return out;
}

}  // namespace

void KeyboardModes::follow(std::string_view output) {
  for (const char byte : output) step(static_cast<unsigned char>(byte));
}

// https://vt100.net/emu/dec_ansi_parser, as far as it matters here.
void KeyboardModes::step(unsigned char byte) {
  constexpr unsigned char kCancel = 0x18, kSubstitute = 0x1A, kEscapes = 0x1B, kBell = 0x07;
  const unsigned char before = before_;
  before_ = byte;
  if (byte == kEscapes) {
    at_ = At::kEscape;
  } else if (byte == kCancel || byte == kSubstitute) {
    at_ = At::kText;
  } else if (before == 0xC2 && byte == 0x9B && at_ != At::kString) {  // CSI in one character
    at_ = At::kControl;
    control_.clear();
  } else if (at_ == At::kEscape) {
    escape(byte);
  } else if (at_ == At::kString) {
    if (byte == kBell) at_ = At::kText;
  } else if (at_ == At::kControl && byte >= 0x20) {  // what is less is done in between
    if (byte >= 0x40) {
      at_ = At::kText;
      control(byte);
    } else if (control_.size() <= kLongest) {
      control_ += static_cast<char>(byte);
    }
  }
}

void KeyboardModes::escape(unsigned char final) {
  if (final < 0x30) return;  // more of it comes, or what is done in between
  at_ = At::kText;
  switch (final) {
    case '[':
      at_ = At::kControl;
      control_.clear();
      break;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      at_ = At::kString;
      break;
    case 'c': {  // all of the terminal as it was switched on
      private_.reset();
      saved_.reset();
      locked_ = two_bytes_ = kitty_ = false;
      other_keys_ = 0;
      break;
    }
    case '=':
    case '>':
      private_[place_of(66)] = final == '=';
      break;
    default:
      break;
  }
}

void KeyboardModes::set_private(std::string_view numbers, char how) {
  each_number(numbers, [&](int number) {
    const size_t at = place_of(number);
    if (at == kPrivate.size()) return;
    if (how == 's')
      saved_[at] = private_[at];
    else
      private_[at] = how == 'r' ? saved_[at] : how == 'h';
  });
}

void KeyboardModes::control(unsigned char final) {
  const std::string_view text = control_;
  const char first = text.empty() ? '\0' : text.front();
  if (text.size() > kLongest) {
    // Some terminals take numbers of any length.
    if ((first == '>' || first == '=' || first == '<') && final == 'u') kitty_ = true;
    if (first == '>' && final == 'm') other_keys_ = 1;
    return;
  }
  const char how = static_cast<char>(final);
  if (first == '?' && (how == 'h' || how == 'l' || how == 's' || how == 'r')) {
    set_private(text.substr(1), how);
  } else if ((first == '>' || first == '=' || first == '<') && how == 'u') {
    kitty_ = true;
  } else if (first == '>' && how == 'm') {
    int numbers[2] = {4, 0}, count = 0;  // without any: all as they were
    each_number(text.substr(1), [&](int number) {
      if (count < 2 && text.size() > 1) numbers[count++] = number;
    });
    if (numbers[0] == 4) other_keys_ = numbers[1];
  } else if (first == '>' && how == 'n' && text == ">4") {
    other_keys_ = 0;
  } else if (how == 'h' || how == 'l') {
    each_number(text, [&](int number) {
      if (number == 2) locked_ = how == 'h';
      if (number == 20) two_bytes_ = how == 'h';
    });
  } else if (text == "!" && how == 'p') {
    locked_ = two_bytes_ = false;
    private_[place_of(1)] = private_[place_of(66)] = false;
  }
}

std::string KeyboardModes::plain() const {
  const std::string_view kind = terminal_kind();
  if (kind.empty()) return "";
  std::string out = "\033[2l\033[20l\033>";
  out += private_modes(std::bitset<kPrivate.size()>().set(), 'l');
  if (kind == "linux") return out;  // has nothing else, and takes the next for other things
  if (other_keys_ != 0) out += "\033[>4;0m";
  if (kitty_) out += "\033[>0u";  // on top of what there is
  return out;
}

std::string KeyboardModes::again() const {
  const std::string_view kind = terminal_kind();
  if (kind.empty()) return "";
  std::string out;
  if (kind != "linux") {
    if (kitty_) out += "\033[<1u";
    if (other_keys_ != 0) out += "\033[>4;" + std::to_string(other_keys_) + "m";
  }
  out += private_modes(private_, 'h');
  if (private_[place_of(66)]) out += "\033=";
  if (two_bytes_) out += "\033[20h";
  if (locked_) out += "\033[2h";
  return out;
}

}  // namespace bulkhead
