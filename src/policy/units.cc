#include "policy/units.h"

#include <array>
#include <charconv>
#include <utility>

namespace bulkhead {
namespace {

// The number in front of `text`, times the factor of the unit behind it; nothing beyond `most`.
template <size_t N>
std::optional<uint64_t> parse_scaled(
    std::string_view text, const std::array<std::pair<std::string_view, uint64_t>, N>& units,
    uint64_t most) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const auto& [name, factor] : units) {
    if (name != unit) continue;
    if (number > most / factor) return std::nullopt;
    return number * factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> parse_size(std::string_view text) {
  constexpr uint64_t kKilo = 1000, kKibi = 1024;
  static constexpr std::array<std::pair<std::string_view, uint64_t>, 11> kUnits = {{
      {"", 1},
      {"B", 1},
      {"kB", kKilo},
      {"KB", kKilo},
      {"KiB", kKibi},
      {"MB", kKilo * kKilo},
      {"MiB", kKibi * kKibi},
      {"GB", kKilo * kKilo * kKilo},
      {"GiB", kKibi * kKibi * kKibi},
      {"TB", kKilo * kKilo * kKilo * kKilo},
      {"TiB", kKibi * kKibi * kKibi * kKibi},
  }};
  return parse_scaled(text, kUnits, INT64_MAX);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, uint64_t>, 4> kUnits = {{
      {"ms", 1},
      {"s", 1000},
      {"m", 60'000},
      {"h", 3'600'000},
  }};
  constexpr uint64_t kTenYears = 10ULL * 365 * 24 * 3'600'000;
  const auto value = parse_scaled(text, kUnits, kTenYears);
  if (!value) return std::nullopt;
  return std::chrono::milliseconds(static_cast<int64_t>(*value));
}

}  // namespace bulkhead
