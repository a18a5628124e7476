#include "policy/covers.h"

#include <algorithm>

#include "policy/port_rule.h"

namespace bulkhead {
namespace {

constexpr bool is_path_kind(Kind kind) {
  return kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kReadStatus ||
         kind == Kind::kWriteStatus || kind == Kind::kRun;
}

using Components = std::vector<std::string>;

// A star of `inner` stands for any bytes, so only a star of `outer` can take it: no other byte of a
// pattern is kStar, and a star takes that byte like any.
bool starts_at(const Components& outer, const Components& inner, size_t offset) {
  if (offset + outer.size() > inner.size()) return false;
  for (size_t i = 0; i < outer.size(); ++i)
    if (!component_matches(outer[i], inner[offset + i])) return false;
  return true;
}

// A component that both match may exist. Of two with stars nothing is known.
bool components_may_meet(const std::string& a, const std::string& b) {
  const bool a_star = a.find(kStar) != std::string::npos;
  const bool b_star = b.find(kStar) != std::string::npos;
  if (a_star && b_star) return true;
  return a_star ? component_matches(a, b) : component_matches(b, a);
}

bool name_covers(std::string_view entry, std::string_view other) {
  if (entry == other) return true;
  if (!entry.ends_with('*')) return false;
  return other.starts_with(entry.substr(0, entry.size() - 1));
}

}  // namespace

std::optional<ResolvedPattern> parse_resolved(std::string_view resolved) {
  ResolvedPattern result;
  if (resolved.ends_with("/.")) {
    result.itself = true;
    resolved.remove_suffix(resolved.size() == 2 ? 1 : 2);
  }
  auto parsed = parse_pattern(resolved);
  if (!parsed.ok() || !parsed->variable.empty()) return std::nullopt;
  result.pattern = std::move(parsed->pattern);
  return result;
}

std::string concrete_path(std::string_view resolved) {
  const auto parsed = parse_resolved(resolved);
  return parsed && !parsed->itself && parsed->pattern.is_concrete() ? parsed->pattern.path()
                                                                    : std::string();
}

bool covers(const ResolvedPattern& outer, const ResolvedPattern& inner) {
  const Components& wide = outer.pattern.components;
  const Components& narrow = inner.pattern.components;
  if (outer.itself)
    return inner.itself && outer.pattern.anywhere == inner.pattern.anywhere &&
           wide.size() == narrow.size() && starts_at(wide, narrow, 0);
  if (!outer.pattern.anywhere)
    return inner.pattern.anywhere ? wide.empty() : starts_at(wide, narrow, 0);
  for (size_t offset = 0; offset < narrow.size(); ++offset)
    if (starts_at(wide, narrow, offset)) return true;
  return false;
}

bool may_meet(const ResolvedPattern& a, const ResolvedPattern& b) {
  if (a.pattern.anywhere || b.pattern.anywhere) return true;
  const Components& one = a.pattern.components;
  const Components& other = b.pattern.components;
  // A folder itself lies in no tree below it.
  if ((a.itself && other.size() > one.size()) || (b.itself && one.size() > other.size()))
    return false;
  const size_t common = std::min(one.size(), other.size());
  for (size_t i = 0; i < common; ++i)
    if (!components_may_meet(one[i], other[i])) return false;
  return true;
}

bool covers(const NetworkPattern& outer, const NetworkPattern& inner) {
  using Host = NetworkPattern::Host;
  if (inner.first_port < outer.first_port || inner.last_port > outer.last_port) return false;
  switch (outer.host) {
    case Host::kName:
      return inner.host == Host::kName && inner.name == outer.name;
    case Host::kBelowName: {
      const std::string below = "." + outer.name;
      if (inner.host == Host::kName) return inner.name.ends_with(below);
      return inner.host == Host::kBelowName &&
             (inner.name == outer.name || inner.name.ends_with(below));
    }
    case Host::kLoopback:
      return inner.host == Host::kLoopback;
    case Host::kAny:  // public hosts
      if (inner.host == Host::kNetwork)
        return !network_is_special(inner.network, inner.prefix_bits);
      return inner.host != Host::kLoopback;
    case Host::kNetwork:
      // A network that also holds public addresses speaks of those only.
      return inner.host == Host::kNetwork && inner.network.is_v4() == outer.network.is_v4() &&
             inner.prefix_bits >= outer.prefix_bits &&
             inner.network.in_network(outer.network, outer.prefix_bits) &&
             (network_is_special(outer.network, outer.prefix_bits) ||
              !network_is_special(inner.network, inner.prefix_bits));
  }
  return false;
}

bool covers(Kind kind, const Rule& outer, const Rule& inner) {
  if (!speaks_of(outer, kind) || !speaks_of(inner, kind)) return false;
  // A program that is not installed: the entry has no path yet.
  if (outer.resolved.empty() || inner.resolved.empty())
    return outer.resolved.empty() && inner.resolved.empty() && outer.text == inner.text;
  if (outer.resolved == inner.resolved) return true;
  if (is_path_kind(kind)) {
    const auto a = parse_resolved(outer.resolved), b = parse_resolved(inner.resolved);
    return a && b && covers(*a, *b);
  }
  if (kind == Kind::kConnect || kind == Kind::kLookup) {
    const auto a = parse_network(outer.resolved), b = parse_network(inner.resolved);
    // Blocks read patterns more widely than grants do; of those only the same text is certain.
    return a.ok() && b.ok() && outer.verdict == Verdict::kAllow && covers(*a, *b);
  }
  if (kind == Kind::kListen) {
    const auto a = parse_port_range(outer.resolved), b = parse_port_range(inner.resolved);
    return a.ok() && b.ok() && a->holds(*b);
  }
  return name_covers(outer.resolved, inner.resolved);
}

bool may_meet(Kind kind, const Rule& a, const Rule& b) {
  if (!speaks_of(a, kind) || !speaks_of(b, kind)) return false;
  if (!is_path_kind(kind)) return true;
  const auto one = parse_resolved(a.resolved), other = parse_resolved(b.resolved);
  return !one || !other || may_meet(*one, *other);
}

}  // namespace bulkhead
