#include "policy/rule_match.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "policy/network_index.h"
#include "policy/pattern.h"
#include "policy/port_rule.h"

namespace bulkhead {
namespace {

constexpr bool is_path_kind(Kind kind) {
  return kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kReadStatus ||
         kind == Kind::kWriteStatus || kind == Kind::kRun;
}

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> result;
  while (path.size() > 1) {
    path.remove_prefix(1);
    const std::string_view component = path.substr(0, path.find('/'));
    result.push_back(component);
    path.remove_prefix(component.size());
  }
  return result;
}

// A public address in no network that a rule names: it stands for the unknown address of a name.
IpAddress unspoken_address(const Policy& policy) {
  std::vector<NetworkPattern> networks;
  for (const Rule& rule : policy.rules()) {
    if ((rule.kinds & (1U << static_cast<unsigned>(Kind::kConnect))) == 0) continue;
    const auto pattern = parse_network(rule.resolved);
    if (pattern.ok() && pattern->host == NetworkPattern::Host::kNetwork && pattern->prefix_bits > 0)
      networks.push_back(*pattern);
  }
  IpAddress candidate = IpAddress::v4({1, 0, 0, 1});
  for (unsigned first = 1; first < 224; ++first) {
    for (unsigned second = 0; second < 256; second += 5) {
      candidate = IpAddress::v4({static_cast<uint8_t>(first), static_cast<uint8_t>(second), 7, 9});
      if (!candidate.is_special() &&
          std::none_of(networks.begin(), networks.end(), [&](const NetworkPattern& each) {
            return candidate.in_network(each.network, each.prefix_bits);
          }))
        return candidate;
    }
  }
  return candidate;
}

bool network_matches(const Rule& rule, Kind kind, std::string_view resource) {
  const auto endpoint = parse_endpoint(kind, resource);
  const auto pattern = parse_network(rule.resolved);
  if (!endpoint || !pattern.ok()) return false;
  NetworkIndex index(rule.verdict == Verdict::kAllow ? NetworkIndex::Purpose::kGrant
                                                     : NetworkIndex::Purpose::kBlock);
  index.add(*pattern, 1);
  index.seal();
  if (kind == Kind::kLookup) return index.lookup(endpoint->name) == 1;
  if (endpoint->address) return index.connect(*endpoint->address, endpoint->port, {}) == 1;
  // An address outside of the pattern's own network, so that only its name can match.
  const bool one_network =
      pattern->host == NetworkPattern::Host::kNetwork && pattern->prefix_bits > 0;
  if (one_network) return false;
  const std::array<std::string_view, 1> names = {endpoint->name};
  return index.connect(IpAddress::v4({1, 0, 7, 9}), endpoint->port, names) == 1;
}

bool port_matches(const Rule& rule, std::string_view resource) {
  const auto port = parse_port(resource);
  const auto range = parse_port_range(rule.resolved);
  return port && range.ok() && range->holds(*port);
}

bool name_matches(std::string_view entry, std::string_view name) {
  if (entry.ends_with('*')) return name.starts_with(entry.substr(0, entry.size() - 1));
  return entry == name;
}

}  // namespace

std::optional<NamedEndpoint> parse_endpoint(Kind kind, std::string_view text) {
  NamedEndpoint result;
  std::string_view host = text;
  if (kind != Kind::kLookup) {
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = parse_port(text.substr(colon + 1));
    if (!port) return std::nullopt;
    result.port = *port;
    host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
      return std::nullopt;  // an IPv6 address without brackets
    }
    result.address = IpAddress::parse(host);
    if (result.address) return result;
    if (host == "localhost") {
      result.address = IpAddress::v4({127, 0, 0, 1});
      return result;
    }
  }
  const auto name = normalize_host(host);
  if (!name) return std::nullopt;
  result.name = *name;
  return result;
}

bool pattern_matches(std::string_view pattern, std::string_view path) {
  const bool itself = pattern.ends_with("/.");  // the folder without what is in it
  if (itself) pattern.remove_suffix(pattern.size() == 2 ? 1 : 2);
  const auto parsed = parse_pattern(pattern);
  if (!parsed.ok() || !parsed->variable.empty()) return false;
  const std::vector<std::string>& globs = parsed->pattern.components;
  const std::vector<std::string_view> parts = components_of(path);
  if (globs.size() > parts.size()) return false;
  const size_t last_start = parsed->pattern.anywhere ? parts.size() - globs.size() : 0;
  if (itself && !parsed->pattern.anywhere && globs.size() != parts.size()) return false;
  for (size_t start = itself ? last_start : 0; start <= last_start; ++start)
    if (std::equal(globs.begin(), globs.end(), parts.begin() + static_cast<std::ptrdiff_t>(start),
                   [](const std::string& glob, std::string_view part) {
                     return component_matches(glob, part);
                   }))
      return true;
  return false;
}

bool rule_matches(const Rule& rule, Kind kind, std::string_view resource) {
  if (rule.resolved.empty() || (rule.kinds & (1U << static_cast<unsigned>(kind))) == 0)
    return false;
  // A grant of reading carries the status bit for people to see; status itself is free.
  if (kind == Kind::kReadStatus && rule.verdict == Verdict::kAllow) return false;
  if (is_path_kind(kind)) return pattern_matches(rule.resolved, resource);
  if (kind == Kind::kConnect || kind == Kind::kLookup) return network_matches(rule, kind, resource);
  if (kind == Kind::kListen) return port_matches(rule, resource);
  return name_matches(rule.resolved, resource);
}

bool is_above_a_place(const Policy& policy, std::string_view path) {
  const std::vector<std::string_view> parts = components_of(path);
  return std::any_of(policy.rules().begin(), policy.rules().end(), [&](const Rule& rule) {
    std::string_view text = rule.resolved;
    if (text.ends_with("/.")) text.remove_suffix(2);
    const auto parsed = parse_pattern(text);
    if (!parsed.ok() || !parsed->variable.empty() || parsed->pattern.anywhere) return false;
    const std::vector<std::string>& globs = parsed->pattern.components;
    return globs.size() >= parts.size() &&
           std::equal(parts.begin(), parts.end(), globs.begin(),
                      [](std::string_view part, const std::string& glob) {
                        return component_matches(glob, part);
                      });
  });
}

std::vector<RuleId> matching_rules(const Policy& policy, Kind kind, std::string_view resource) {
  std::vector<RuleId> result;
  if (is_path_kind(kind) && !is_canonical(resource)) return result;
  const std::vector<Rule>& rules = policy.rules();
  for (RuleId id = kOtherwiseRule + 1; id < rules.size(); ++id)
    if (rule_matches(rules[id], kind, resource)) result.push_back(id);
  return result;
}

Decision decide(const Policy& policy, Kind kind, std::string_view resource) {
  if (is_path_kind(kind)) return policy.decide_path(kind, resource);
  switch (kind) {
    case Kind::kConnect: {
      const auto endpoint = parse_endpoint(kind, resource);
      if (!endpoint) return {};
      if (endpoint->address) return policy.decide_connect(*endpoint->address, endpoint->port, {});
      const std::array<std::string_view, 1> names = {endpoint->name};
      return policy.decide_connect(unspoken_address(policy), endpoint->port, names);
    }
    case Kind::kLookup: {
      const auto endpoint = parse_endpoint(kind, resource);
      return endpoint ? policy.decide_lookup(endpoint->name) : Decision{};
    }
    case Kind::kListen: {
      const auto port = parse_port(resource);
      return port ? policy.decide_listen(*port) : Decision{};
    }
    case Kind::kEnvironment:
      return policy.decide_environment(resource);
    case Kind::kVscode:
      return policy.decide_vscode(resource);
    default:
      return {};
  }
}

}  // namespace bulkhead
