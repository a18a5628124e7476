// Sizes and durations as manifests and command-line flags write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead {

// "512MiB", "1GB", "4096", "100kB": bytes. Whole numbers only, no spaces, at most 2^63-1.
std::optional<uint64_t> parse_size(std::string_view text);

// "530 MiB", "7 MB": in the unit that says `limit` exactly, at most mega, and rounded up, so that
// what is over the limit also reads so.
std::string size_text(uint64_t bytes, uint64_t limit);

// Ten years: what is added to a clock's time does not overflow.
inline constexpr std::chrono::milliseconds kLongestDuration = std::chrono::hours(10 * 365 * 24);

// "250ms", "30s", "10m", "2h". A unit is needed; at most kLongestDuration.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace bulkhead
