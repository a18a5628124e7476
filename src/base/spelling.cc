#include "base/spelling.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace bulkhead {
namespace {

constexpr size_t kLongest = 64;  // bytes; the work grows with the square

// Levenshtein's.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t least = 3;  // three typing mistakes are another word
  if (word.size() > kLongest) return best;
  for (const std::string_view each : known) {
    const size_t far = distance(word, each);
    if (far < least && far < each.size()) {
      least = far;
      best = each;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  if (const std::string_view near = nearest(word, known); !near.empty())
    return fmt::format("did you mean \"{}\"?", near);
  std::string list;
  for (const std::string_view each : known)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", each);
  return "known are " + list;
}

}  // namespace bulkhead
