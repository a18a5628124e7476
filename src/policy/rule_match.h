// Which rules of a policy speak of an access: every one of them, by looking at each in turn. For
// explaining and linting; decisions are made by the indexes (path_index.h, network_index.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// What a network access names: "example.com:443", "10.0.0.5:443", "[::1]:80", "localhost:80", or a
// name alone for a lookup. Exactly one of `name` and `address` is set.
struct NamedEndpoint {
  std::string name;  // normalised
  std::optional<IpAddress> address;
  uint16_t port = 0;
};
// nullopt where it is none. A port is needed for kConnect and absent for kLookup.
std::optional<NamedEndpoint> parse_endpoint(Kind kind, std::string_view text);

// True where `pattern`, as Rule::resolved holds it, matches the canonical `path`.
bool pattern_matches(std::string_view pattern, std::string_view path);

// True where the rule speaks of this access, whatever other rules say.
bool rule_matches(const Rule& rule, Kind kind, std::string_view resource);

// Whether a rule names `path`, or a path below it, by its place and not by a name that holds
// anywhere.
bool is_above_a_place(const Policy& policy, std::string_view path);

// All rules that speak of it but `otherwise`, lowest first.
std::vector<RuleId> matching_rules(const Policy& policy, Kind kind, std::string_view resource);

// The decision on a resource written as text. For a host name no address is known: the answer holds
// for a public address that no rule speaks of.
Decision decide(const Policy& policy, Kind kind, std::string_view resource);

}  // namespace bulkhead
