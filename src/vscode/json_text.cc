#include "vscode/json_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace bulkhead {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The position after the string whose content starts at `i`; npos where it does not end.
size_t after_string(std::string_view text, size_t i) noexcept {
  for (;;) {
    const void* quote = std::memchr(text.data() + i, '"', text.size() - i);
    if (quote == nullptr) return std::string_view::npos;
    const auto end = static_cast<size_t>(static_cast<const char*>(quote) - text.data());
    // A quote counts where an even number of backslashes stands before it.
    size_t first = end;
    while (first > i && text[first - 1] == '\\') --first;
    if ((end - first) % 2 == 0) return end + 1;
    i = end + 1;
  }
}

constexpr std::array<bool, 256> kStructural = [] {
  std::array<bool, 256> table{};
  for (const char c : {'"', '[', ']', '{', '}', ','}) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// Walks the structure; `comma` and `end` are told of what happens in the outermost value.
template <typename Comma, typename End>
bool walk(std::string_view text, Comma comma, End end) {
  std::array<size_t, kMaxJsonDepth> members;  // of the objects that are open
  std::array<char, kMaxJsonDepth> open;
  size_t depth = 0, values = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (!kStructural[static_cast<unsigned char>(c)]) {
      ++i;
      continue;
    }
    switch (c) {
      case '"':
        i = after_string(text, i + 1);
        if (i == std::string_view::npos) return false;
        continue;
      case '[':
      case '{':
        if (depth == kMaxJsonDepth || ++values > kMaxJsonValues) return false;
        open[depth] = c;
        members[depth++] = 0;
        break;
      case ',':
        if (++values > kMaxJsonValues) return false;
        if (depth > 0 && open[depth - 1] == '{' && ++members[depth - 1] >= kMaxJsonMembers)
          return false;
        if (depth == 1) comma(i);
        break;
      default:
        if (depth == 0 || open[depth - 1] != (c == ']' ? '[' : '{')) return false;
        if (--depth == 0 && !end(i)) return false;
        break;
    }
    ++i;
  }
  return depth == 0;
}

// Whether the two stand side by side, the first at one of kAtOnce letters. Without a branch, so
// that the compiler looks at sixteen at a time.
constexpr size_t kAtOnce = 64;
bool has_pair(const char* letters, char first, char second) noexcept {
  uint8_t found = 0;  // wider ones would make it look at fewer
  for (size_t i = 0; i < kAtOnce; ++i) {
    const auto one = static_cast<uint8_t>(letters[i] == first),
               other = static_cast<uint8_t>(letters[i + 1] == second);
    found = static_cast<uint8_t>(found | (one & other));
  }
  return found != 0;
}

// For words of which each letter is common, as a backslash is in the JSON of a program's text.
size_t find_by_pair(std::string_view text, std::string_view word, size_t from) noexcept {
  for (; from <= text.size() && text.size() - from >= word.size(); ++from) {
    if (text.size() - from > kAtOnce && !has_pair(text.data() + from, word[0], word[1])) {
      from += kAtOnce - 1;
      continue;
    }
    const size_t end = std::min(text.size(), from + kAtOnce + word.size() - 1);
    const size_t found = text.substr(0, end).find(word, from);
    if (found != std::string_view::npos) return found;
    from += kAtOnce - 1;
  }
  return std::string_view::npos;
}

// By the letter of the word that is rarest in what people write, which memchr finds faster than
// memmem finds a word. Slower in a text of nothing but that letter, though still linear in it.
size_t find_word(std::string_view text, std::string_view word, size_t from) noexcept {
  if (word.starts_with("\\u")) return find_by_pair(text, word, from);
  constexpr std::string_view kByFrequency = "\"etaoinshrdlucmfwgypbvkxjqz";
  size_t rarest = 0;
  for (size_t i = 1; i < word.size(); ++i)  // capitals and signs: npos
    if (kByFrequency.find(word[i]) > kByFrequency.find(word[rarest])) rarest = i;
  while (from <= text.size() && text.size() - from >= word.size()) {
    const size_t rest = text.size() - from - word.size() + 1;
    const void* found = std::memchr(text.data() + from + rarest, word[rarest], rest);
    if (found == nullptr) break;
    from = static_cast<size_t>(static_cast<const char*>(found) - text.data()) - rarest;
    // A neighbour first, for texts in which the letter is not rare.
    const size_t beside = rarest == 0 ? word.size() - 1 : 0;
    if (text[from + beside] == word[beside] && text.substr(from, word.size()) == word) return from;
    ++from;
  }
  return std::string_view::npos;
}

bool spells_letters(std::string_view json) noexcept {
  // VS Code's own writer escapes control characters only (\u0000 to \u001f): an escape beyond them
  // may spell a letter.
  constexpr std::string_view kEscape = "\\u00";
  for (size_t at = 0; (at = find_word(json, kEscape, at)) != std::string_view::npos;) {
    at += kEscape.size();
    if (at == json.size() || (json[at] != '0' && json[at] != '1')) return true;
  }
  return false;
}

}  // namespace

bool is_moderate(std::string_view json) noexcept {
  return walk(
      json, [](size_t) {}, [](size_t) { return true; });
}

std::optional<std::vector<std::string_view>> split_array(std::string_view json) {
  while (!json.empty() && is_space(json.front())) json.remove_prefix(1);
  while (!json.empty() && is_space(json.back())) json.remove_suffix(1);
  if (json.size() < 2 || json.front() != '[') return std::nullopt;
  std::vector<std::string_view> elements;
  size_t start = 1;
  const auto take = [&](size_t until) {
    std::string_view element = json.substr(start, until - start);
    while (!element.empty() && is_space(element.front())) element.remove_prefix(1);
    while (!element.empty() && is_space(element.back())) element.remove_suffix(1);
    elements.push_back(element);
    start = until + 1;
  };
  const bool whole = walk(json, take, [&](size_t i) {
    if (i + 1 != json.size()) return false;  // something after its end
    take(i);
    return true;
  });
  if (!whole || start != json.size()) return std::nullopt;
  if (elements.size() == 1 && elements[0].empty()) elements.clear();
  return elements;
}

bool holds(std::string_view text, std::string_view word) noexcept {
  return find_word(text, word, 0) != std::string_view::npos;
}

bool replace_halves(std::span<char> json) noexcept {
  constexpr std::string_view kHalf = "\\ud", kNone = "\\ufffd";
  const std::string_view text(json.data(), json.size());
  bool found = false;
  for (size_t at = 0; (at = find_word(text, kHalf, at)) != std::string_view::npos; ++at) {
    size_t first = at;
    while (first > 0 && text[first - 1] == '\\') --first;
    const char high = at + kHalf.size() < text.size() ? text[at + kHalf.size()] : '0';
    const bool is_half = (high >= '8' && high <= '9') || (high >= 'a' && high <= 'f');
    if ((at - first) % 2 != 0 || !is_half || text.size() - at < kNone.size()) continue;
    const std::string_view next = text.substr(at + kNone.size(), kHalf.size() + 1);
    if (high < 'c' && next.starts_with(kHalf) && next.back() >= 'c' && next.back() <= 'f') {
      at += kNone.size() + kHalf.size();  // both halves
      continue;
    }
    std::memcpy(json.data() + at, kNone.data(), kNone.size());
    found = true;
  }
  return found;
}

bool may_name(std::string_view json, std::initializer_list<std::string_view> keys) noexcept {
  if (spells_letters(json)) return true;
  std::array<char, 64> quoted;
  quoted[0] = '"';
  for (const std::string_view key : keys) {
    if (key.size() + 2 > quoted.size()) return true;
    std::memcpy(quoted.data() + 1, key.data(), key.size());
    quoted[key.size() + 1] = '"';
    if (holds(json, {quoted.data(), key.size() + 2})) return true;
  }
  return false;
}

}  // namespace bulkhead
