// Why a decision fell as it did, and the smallest change that would alter it.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

struct Explanation {
  Decision decision;
  Kind kind = Kind::kRead;
  std::string resource;            // as decided: canonical path, host:port, name
  std::string because;             // a sentence that names the rule, its file and line
  std::vector<RuleId> also;        // other rules that matched and were overruled
  std::string change;              // smallest edit that alters it: a manifest line, a flag, or why there is none
};

Explanation explain(const Policy& policy, Kind kind, std::string_view resource);

// "--read /a/b": the run flag that would grant this; empty where no flag can (blocked).
std::string granting_flag(const Policy& policy, Kind kind, std::string_view resource);

}  // namespace bulkhead
