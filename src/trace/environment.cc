#include "trace/environment.h"

#include <fmt/core.h>

namespace bulkhead {

GrantedEnvironment grant_environment(const Policy& policy, char** variables, bool audit,
                                     const std::function<bool(std::string_view)>& skip) {
  GrantedEnvironment granted;
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry = *variables;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (skip && skip(name)) continue;
    const Decision decision = policy.decide_environment(name);
    const bool allowed = decision.verdict == Verdict::kAllow;
    if (allowed || audit) granted.passed.emplace_back(entry);
    if (allowed) continue;
    const Rule& rule = policy.rule(decision.rule);
    Event event;
    event.time = std::chrono::system_clock::now();
    event.kind = Kind::kEnvironment;
    event.resource = name;
    event.enforced = !audit;
    event.rule = decision.rule == kOtherwiseRule
                     ? "otherwise"
                     : fmt::format("{}: {}", label(rule.source), rule.text);
    event.detail = "start";
    granted.withheld.push_back(std::move(event));
  }
  return granted;
}

}  // namespace bulkhead
