#include "vscode/json_tree.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "vscode/json_text.h"

namespace bulkhead {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// How many of these eight bytes, from the first, a string holds as they are: all before a quote, a
// backslash, a control character or what is no ASCII. A byte of `found` has its highest bit where
// it is one, and is wrong only behind the first such byte.
constexpr ptrdiff_t kWord = 8;
[[gnu::always_inline]] inline size_t plain_at(const char* at) {
  constexpr uint64_t kOnes = 0x0101010101010101U, kHighest = 0x8080808080808080U;
  const auto any_zero = [](uint64_t word) { return (word - kOnes) & ~word; };
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, at, kWord);
  const uint64_t found = (any_zero(word ^ (kOnes * '"')) | any_zero(word ^ (kOnes * '\\')) |
                          ((word - kOnes * ' ') & ~word) | word) &
                         kHighest;
  return static_cast<size_t>(std::countr_zero(found)) / 8;  // 64 where nothing was found
}

const char* after_plain(const char* at, const char* end) {
  for (size_t plain = kWord; end - at >= kWord && plain == kWord; at += plain) plain = plain_at(at);
  for (; at != end; ++at)
    if (*at == '"' || *at == '\\' || *at < ' ' || !is_ascii(*at)) return at;
  return at;
}

// How long the UTF-8 sequence is that begins here; 0 where it is none, too long a spelling of its
// character, half of a surrogate pair or beyond Unicode.
size_t sequence_at(const char* at, const char* end) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(at[i]); };
  const auto within = [&](size_t i, unsigned char first, unsigned char last) {
    return byte(i) >= first && byte(i) <= last;
  };
  const auto left = static_cast<size_t>(end - at);
  const unsigned char first = byte(0);
  if (first >= 0xc2 && first <= 0xdf) return left >= 2 && within(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef)
    return left >= 3 && within(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) &&
                   within(2, 0x80, 0xbf)
               ? 3
               : 0;
  if (first >= 0xf0 && first <= 0xf4)
    return left >= 4 && within(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) &&
                   within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf)
               ? 4
               : 0;
  return 0;
}

// Its bytes; returns how many.
size_t write_utf8(char* to, uint32_t c) {
  const auto part = [&](unsigned shift) {
    return static_cast<char>(0x80U | ((c >> shift) & 0x3fU));
  };
  if (c < 0x80) {
    to[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    to[0] = static_cast<char>(0xc0U | (c >> 6U));
    to[1] = part(0);
    return 2;
  }
  if (c < 0x10000) {
    to[0] = static_cast<char>(0xe0U | (c >> 12U));
    to[1] = part(6);
    to[2] = part(0);
    return 3;
  }
  to[0] = static_cast<char>(0xf0U | (c >> 18U));
  to[1] = part(12);
  to[2] = part(6);
  to[3] = part(0);
  return 4;
}

template <class Tree>
class Parser {
 public:
  explicit Parser(std::string_view json) : at_(json.data()), end_(at_ + json.size()) {}

  bool whole(Tree* into) {
    if (!value(into)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  // Steps over the character, if that is what comes next behind any space.
  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool value(Tree* into) {
    skip_space();
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        return object(into);
      case '[':
        return array(into);
      case '"': {
        std::string text;
        if (!string(&text)) return false;
        *into = std::move(text);
        return true;
      }
      case 't':
        *into = true;
        return take_word("true");
      case 'f':
        *into = false;
        return take_word("false");
      case 'n':
        *into = nullptr;
        return take_word("null");
      default:
        return number(into);
    }
  }

  // Counts as is_moderate() does.
  bool enter() {
    ++at_;
    if (depth_ == kMaxJsonDepth || ++values_ > kMaxJsonValues) return false;
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  bool object(Tree* into) {
    if (!enter()) return false;
    *into = Tree::object();
    if (take('}')) return leave();
    auto& members = into->template get_ref<typename Tree::object_t&>();
    std::string key;
    for (size_t count = 1;; ++count) {
      skip_space();
      if (at_ == end_ || *at_ != '"' || !string(&key) || !take(':')) return false;
      if (!value(&members[std::move(key)])) return false;
      if (take('}')) return leave();
      if (!take(',') || count >= kMaxJsonMembers || ++values_ > kMaxJsonValues) return false;
    }
  }

  bool array(Tree* into) {
    if (!enter()) return false;
    *into = Tree::array();
    if (take(']')) return leave();
    auto& elements = into->template get_ref<typename Tree::array_t&>();
    for (;;) {
      if (!value(&elements.emplace_back())) return false;
      if (take(']')) return leave();
      if (!take(',') || ++values_ > kMaxJsonValues) return false;
    }
  }

  bool digits() {
    if (at_ == end_ || !is_digit(*at_)) return false;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return true;
  }

  bool number(Tree* into) {
    const char* const start = at_;
    const bool negative = *at_ == '-';
    if (negative) ++at_;
    if (at_ != end_ && *at_ == '0')
      ++at_;
    else if (!digits())
      return false;
    bool whole = true;
    if (at_ != end_ && *at_ == '.') {
      whole = false;
      ++at_;
      if (!digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      whole = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!digits()) return false;
    }
    if (whole && negative) {
      int64_t integer = 0;
      if (std::from_chars(start, at_, integer).ec == std::errc()) {
        *into = integer;
        return true;
      }
    } else if (whole) {
      uint64_t integer = 0;
      if (std::from_chars(start, at_, integer).ec == std::errc()) {
        *into = integer;
        return true;
      }
    }
    double real = 0;
    // It does not say whether what is out of range is too large or next to nothing; this one does.
    if (std::from_chars(start, at_, real).ec != std::errc())
      real = std::strtod(std::string(start, at_).c_str(), nullptr);
    if (!std::isfinite(real)) return false;
    *into = real;
    return true;
  }

  // Moves to the first byte that a string does not hold as it is, whatever its language.
  void skip_text() {
    for (;;) {
      at_ = after_plain(at_, end_);
      if (at_ == end_ || is_ascii(*at_)) return;
      const size_t length = sequence_at(at_, end_);
      if (length == 0) return;
      at_ += length;
    }
  }

  // At its first quote. What it holds takes no more room than it needs.
  bool string(std::string* into) {
    const char* const start = ++at_;
    skip_text();
    if (at_ != end_ && *at_ == '"') {  // most hold no escape
      into->assign(start, at_++);
      return true;
    }
    length_ = 0;
    append(start, static_cast<size_t>(at_ - start));
    while (at_ != end_ && *at_ == '\\') {
      ++at_;
      if (!escape()) return false;
      take_text();
    }
    if (at_ == end_ || *at_ != '"') return false;
    ++at_;
    into->assign(text_, 0, length_);
    return true;
  }

  // The room behind what has been put together.
  char* room(size_t size) {
    if (text_.size() - length_ < size) text_.resize(2 * (text_.size() + size));
    return text_.data() + length_;
  }
  void append(const char* from, size_t size) {
    std::memcpy(room(size), from, size);
    length_ += size;
  }

  // As skip_text(), and keeps it. Between two escapes of a program's text stand a dozen letters:
  // they are copied as they are looked at.
  void take_text() {
    while (end_ - at_ >= kWord) {
      std::memcpy(room(kWord), at_, kWord);
      const size_t plain = plain_at(at_);
      at_ += plain;
      length_ += plain;
      if (plain == kWord) continue;
      if (is_ascii(*at_)) return;
      const size_t length = sequence_at(at_, end_);
      if (length == 0) return;
      append(at_, length);
      at_ += length;
    }
    const char* const start = at_;
    skip_text();
    append(start, static_cast<size_t>(at_ - start));
  }

  bool keep(char c) {
    *room(1) = c;
    ++length_;
    return true;
  }

  bool escape() {
    if (at_ == end_) return false;
    switch (*at_++) {
      case '"':
        return keep('"');
      case '\\':
        return keep('\\');
      case '/':
        return keep('/');
      case 'b':
        return keep('\b');
      case 'f':
        return keep('\f');
      case 'n':
        return keep('\n');
      case 'r':
        return keep('\r');
      case 't':
        return keep('\t');
      case 'u':
        return character();
      default:
        return false;
    }
  }

  bool hex(uint32_t* into) {
    if (end_ - at_ < 4) return false;
    *into = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = *at_, lower = static_cast<char>(c | 0x20);
      const bool letter = lower >= 'a' && lower <= 'f';
      if (!is_digit(c) && !letter) return false;
      *into = *into << 4U | static_cast<uint32_t>(letter ? lower - 'a' + 10 : c - '0');
    }
    return true;
  }

  // Behind "\u": one, or both halves of a pair.
  bool character() {
    uint32_t c = 0, low = 0;
    if (!hex(&c)) return false;
    if (c >= 0xdc00 && c <= 0xdfff) return false;
    if (c >= 0xd800 && c <= 0xdbff) {
      if (!take_word("\\u") || !hex(&low) || low < 0xdc00 || low > 0xdfff) return false;
      c = 0x10000 + ((c - 0xd800) << 10U) + (low - 0xdc00);
    }
    length_ += write_utf8(room(4), c);
    return true;
  }

  const char* at_;
  const char* end_;
  size_t depth_ = 0, values_ = 0;
  std::string text_;  // room for a string with escapes, as it is put together
  size_t length_ = 0;
};

}  // namespace

template <class Tree>
Tree parse_json(std::string_view json) {
  Tree tree;
  if (!Parser<Tree>(json).whole(&tree)) return Tree(Tree::value_t::discarded);
  return tree;
}

template nlohmann::ordered_json parse_json(std::string_view);
template nlohmann::json parse_json(std::string_view);

}  // namespace bulkhead
