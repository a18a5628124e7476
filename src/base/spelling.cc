#include "base/spelling.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace bulkhead {
namespace {

constexpr size_t kLongest = 64;  // bytes; the work grows with the square

// Levenshtein's, where two neighbours that changed places are one mistake.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1), above(row.size()), two_above(row.size());
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    two_above.swap(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, above[j] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
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
    if (far < least && 2 * far < each.size()) {
      least = far;
      best = each;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"?", near);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  if (std::string near = did_you_mean(word, known); !near.empty()) return near;
  std::string list;
  for (const std::string_view each : known)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", each);
  return "known are " + list;
}

}  // namespace bulkhead
