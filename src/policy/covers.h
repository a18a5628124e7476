// Which rules say no more than others: containment of patterns. Pure. Errs to one side: "covers" is
// only said where it is certain, "may meet" wherever it is possible.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "policy/network_rule.h"
#include "policy/pattern.h"
#include "policy/policy.h"

namespace bulkhead {

// What stands for all that is in a folder: a name there that no rule has. "folder/." grants the
// folder itself, and so does who says yes to its name.
inline std::string inside(std::string_view folder) { return join(folder, "\x01"); }

constexpr bool speaks_of(const Rule& rule, Kind kind) {
  return (rule.kinds & (1U << static_cast<unsigned>(kind))) != 0;
}

// Rule::resolved of a rule about paths, taken apart.
struct ResolvedPattern {
  PathPattern pattern;
  bool itself = false;  // "/a/.": the folder without what is in it
};
std::optional<ResolvedPattern> parse_resolved(std::string_view resolved);
// The path of a pattern that means exactly one tree; else empty.
std::string concrete_path(std::string_view resolved);

// Whatever `inner` matches, with all that is below it, `outer` matches.
bool covers(const ResolvedPattern& outer, const ResolvedPattern& inner);
// Some path may be matched by both.
bool may_meet(const ResolvedPattern& a, const ResolvedPattern& b);
// As grants: what `inner` grants, `outer` grants.
bool covers(const NetworkPattern& outer, const NetworkPattern& inner);

// The same for rules of one verdict that both speak of `kind`.
bool covers(Kind kind, const Rule& outer, const Rule& inner);
bool may_meet(Kind kind, const Rule& a, const Rule& b);

}  // namespace bulkhead
