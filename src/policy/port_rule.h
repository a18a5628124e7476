// Ports that a compartment may publish: "5173", "8000-8010" or "*", taken apart. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bulkhead {

struct PortRange {
  uint16_t first = 1, last = 65535;

  bool holds(uint16_t port) const noexcept { return first <= port && port <= last; }
  bool holds(const PortRange& other) const noexcept {
    return holds(other.first) && holds(other.last);
  }
  std::string text() const;  // in one spelling
};

// A number from 1 to 65535 and nothing else.
std::optional<uint16_t> parse_port(std::string_view text) noexcept;
Result<PortRange> parse_port_range(std::string_view text);

}  // namespace bulkhead
