// NetworkIndex: which network rules speak of an address, a name and a port. Filled, sealed, then
// only read; reading neither allocates nor locks nor throws.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/access.h"
#include "policy/network_rule.h"

namespace bulkhead {

// Grants and blocks read the same patterns differently: a name or "*" grants public addresses only
// and blocks any.
class NetworkIndex {
 public:
  enum class Purpose : uint8_t { kGrant, kBlock };
  static constexpr RuleId kNone = UINT32_MAX;

  explicit NetworkIndex(Purpose purpose) : purpose_(purpose) {}
  void add(const NetworkPattern& pattern, RuleId rule);
  void seal();

  // The lowest rule that matches, or kNone.
  RuleId connect(const IpAddress& address, uint16_t port,
                 std::span<const std::string_view> names) const noexcept;
  // A grant of any port grants the lookup; only a block of all ports blocks it.
  RuleId lookup(std::string_view name) const noexcept;

 private:
  struct Ports {
    uint16_t first, last;
    RuleId rule;
    bool special;  // kNetwork: speaks of special addresses as well
  };
  struct Network {
    IpAddress address;
    unsigned bits;
    Ports ports;
  };
  struct Named {
    std::vector<Ports> exact, below;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Prefix {
    bool v4;
    unsigned bits;
    size_t begin, end;  // in networks_
  };

  static constexpr size_t kLongestName = 253;  // normalize_host refuses longer ones

  Named& named(const std::string& name);
  template <typename Accept>
  RuleId by_name(std::string_view name, Accept accept) const noexcept;

  Purpose purpose_;
  std::unordered_map<std::string, Named, Hash, std::equal_to<>> names_;
  std::bitset<kLongestName + 1> lengths_;  // of names_; a suffix of another length needs no lookup
  std::vector<Network> networks_;          // sorted by family, prefix length, address
  std::vector<Prefix> prefixes_;
  std::vector<Ports> loopback_, any_;
};

}  // namespace bulkhead
