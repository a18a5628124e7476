#include "policy/network_index.h"

#include <algorithm>
#include <tuple>

namespace bulkhead {
namespace {

// The address with everything behind the prefix zero; no allocation.
IpAddress masked(const IpAddress& address, unsigned bits) noexcept {
  auto bytes = address.bytes();
  const size_t size = address.is_v4() ? 4 : 16;
  size_t kept = bits / 8;
  if (kept < size) bytes[kept++] &= static_cast<uint8_t>(0xFF00U >> (bits % 8));
  for (; kept < size; ++kept) bytes[kept] = 0;
  return address.is_v4() ? IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]})
                         : IpAddress::v6(bytes);
}

bool is_localhost(std::string_view name) noexcept {
  constexpr std::string_view kName = "localhost", kBelow = ".localhost";  // RFC 6761, 6.3
  return name == kName ||
         (name.size() > kBelow.size() && name.substr(name.size() - kBelow.size()) == kBelow);
}

}  // namespace

NetworkIndex::Named& NetworkIndex::named(const std::string& name) {
  lengths_.set(name.size());
  return names_[name];
}

void NetworkIndex::add(const NetworkPattern& pattern, RuleId rule) {
  using Host = NetworkPattern::Host;
  Ports ports{pattern.first_port, pattern.last_port, rule, true};
  switch (pattern.host) {
    case Host::kName:
      named(pattern.name).exact.push_back(ports);
      break;
    case Host::kBelowName:
      named(pattern.name).below.push_back(ports);
      break;
    case Host::kLoopback:
      loopback_.push_back(ports);
      break;
    case Host::kAny:
      any_.push_back(ports);
      break;
    case Host::kNetwork:
      ports.special =
          purpose_ == Purpose::kBlock || network_is_special(pattern.network, pattern.prefix_bits);
      networks_.push_back({pattern.network, pattern.prefix_bits, ports});
      break;
  }
}

void NetworkIndex::seal() {
  const auto key = [](const Network& n) {
    return std::tuple(n.address.is_v4(), n.bits, n.address);
  };
  std::stable_sort(networks_.begin(), networks_.end(),
                   [&](const Network& a, const Network& b) { return key(a) < key(b); });
  for (size_t i = 0; i < networks_.size(); ++i) {
    const bool v4 = networks_[i].address.is_v4();
    if (prefixes_.empty() || prefixes_.back().v4 != v4 ||
        prefixes_.back().bits != networks_[i].bits)
      prefixes_.push_back({v4, networks_[i].bits, i, i});
    prefixes_.back().end = i + 1;
  }
}

template <typename Accept>
RuleId NetworkIndex::by_name(std::string_view name, Accept accept) const noexcept {
  RuleId best = kNone;
  const auto take = [&](const std::vector<Ports>& list) {
    for (const Ports& ports : list)
      if (accept(ports)) best = std::min(best, ports.rule);
  };
  const auto named = [&](std::string_view text) -> const Named* {
    if (text.size() > kLongestName || !lengths_[text.size()]) return nullptr;
    const auto it = names_.find(text);
    return it == names_.end() ? nullptr : &it->second;
  };
  if (const Named* found = named(name)) take(found->exact);
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
    if (const Named* found = named(name.substr(dot + 1))) take(found->below);
  return best;
}

RuleId NetworkIndex::connect(const IpAddress& address, uint16_t port,
                             std::span<const std::string_view> names) const noexcept {
  const bool blocks = purpose_ == Purpose::kBlock;
  const bool special = !blocks && address.is_special();  // blocks speak of any address
  RuleId best = kNone;
  const auto accept = [&](const Ports& ports) { return port >= ports.first && port <= ports.last; };
  const auto take = [&](const Ports& ports) {
    if (accept(ports)) best = std::min(best, ports.rule);
  };
  for (const Prefix& prefix : prefixes_) {
    if (prefix.v4 != address.is_v4()) continue;
    const IpAddress network = masked(address, prefix.bits);
    const auto end = networks_.begin() + static_cast<std::ptrdiff_t>(prefix.end);
    auto it = std::lower_bound(networks_.begin() + static_cast<std::ptrdiff_t>(prefix.begin), end,
                               network,
                               [](const Network& a, const IpAddress& b) { return a.address < b; });
    for (; it != end && it->address == network; ++it)
      if (!special || it->ports.special) take(it->ports);
  }
  if (address.is_loopback())
    for (const Ports& ports : loopback_) take(ports);
  if (special) return best;
  for (const Ports& ports : any_) take(ports);
  for (const std::string_view name : names) best = std::min(best, by_name(name, accept));
  return best;
}

RuleId NetworkIndex::lookup(std::string_view name) const noexcept {
  const bool blocks = purpose_ == Purpose::kBlock;
  const auto accept = [&](const Ports& ports) {
    return !blocks || (ports.first <= 1 && ports.last == 65535);
  };
  RuleId best = by_name(name, accept);
  for (const Ports& ports : any_)
    if (accept(ports)) best = std::min(best, ports.rule);
  if (is_localhost(name)) {
    for (const Ports& ports : loopback_)
      if (accept(ports)) best = std::min(best, ports.rule);
  }
  return best;
}

}  // namespace bulkhead
