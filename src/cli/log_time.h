// Times as `bulkhead log` reads and writes them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead {

// "90s", "10m", "2h", "3d": that long before `now`. "2026-01-31", "2026-01-31T14:30[:05][Z]": that
// moment, in local time unless it ends in Z.
std::optional<std::chrono::system_clock::time_point> parse_since(
    std::string_view text, std::chrono::system_clock::time_point now);

std::string utc_text(std::chrono::system_clock::time_point time);    // 2026-01-31T14:30:05.123456Z
std::string local_text(std::chrono::system_clock::time_point time);  // 2026-01-31 14:30:05

}  // namespace bulkhead
