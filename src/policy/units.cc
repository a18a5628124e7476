#include "policy/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace bulkhead {
namespace {

constexpr uint64_t kKilo = 1000, kKibi = 1024;

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

std::string size_text(uint64_t bytes, uint64_t limit) {
  const auto power = [limit](uint64_t base) {
    size_t count = 0;
    for (uint64_t left = limit; left > 0 && left % base == 0; left /= base) ++count;
    return count;
  };
  struct Unit {
    std::string_view name;
    uint64_t bytes;
  };
  static constexpr std::array<Unit, 3> kBinary = {
      {{"B", 1}, {"KiB", kKibi}, {"MiB", kKibi * kKibi}}};
  static constexpr std::array<Unit, 3> kDecimal = {
      {{"B", 1}, {"kB", kKilo}, {"MB", kKilo * kKilo}}};
  const size_t decimal = power(1000), binary = power(1024);
  const Unit& unit = decimal > binary ? kDecimal[std::min<size_t>(decimal, 2)]
                                      : kBinary[std::min<size_t>(binary, 2)];
  const uint64_t rounded = bytes / unit.bytes + (bytes % unit.bytes > 0 ? 1 : 0);
  return fmt::format("{} {}", rounded, unit.name);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, uint64_t>, 4> kUnits = {{
      {"ms", 1},
      {"s", 1000},
      {"m", 60'000},
      {"h", 3'600'000},
  }};
  const auto value = parse_scaled(text, kUnits, static_cast<uint64_t>(kLongestDuration.count()));
  if (!value) return std::nullopt;
  return std::chrono::milliseconds(static_cast<int64_t>(*value));
}

}  // namespace bulkhead
