// Network entries: "host:port", taken apart. Pure.
//
//   api.example.com:443     that name            *.example.com:443   names below it, not itself
//   10.0.0.5:443            that address         10.0.0.0/8:*        that network
//   [fd00::1]:443           IPv6 in brackets     [fd00::/8]:443
//   localhost:8080          the loopback addresses, and the name
//   *:443                   as a grant: every public host; as a block: every host
//   port: a number, "8000-8100" or "*"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/address.h"

namespace bulkhead {

struct NetworkPattern {
  enum class Host : uint8_t { kName, kBelowName, kNetwork, kLoopback, kAny };
  Host host = Host::kName;
  std::string name;   // kName, kBelowName: normalised
  IpAddress network;  // kNetwork
  unsigned prefix_bits = 0;
  uint16_t first_port = 1, last_port = 65535;

  bool all_ports() const { return first_port == 1 && last_port == 65535; }
  std::string text() const;  // in one spelling: "*.example.com:443", "[fd00::/8]:*"
};

Result<NetworkPattern> parse_network(std::string_view text);

}  // namespace bulkhead
