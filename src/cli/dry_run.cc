#include "cli/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/path.h"
#include "policy/covers.h"
#include "vscode/json_string.h"

namespace bulkhead {
namespace {

std::string rights(const WholeTree& tree) {
  return tree.read && tree.write ? "read, write" : tree.read ? "read" : "write";
}

std::vector<std::string> names(const std::vector<std::string>& environment) {
  std::vector<std::string> found;
  found.reserve(environment.size());
  for (const std::string& entry : environment) found.push_back(entry.substr(0, entry.find('=')));
  std::sort(found.begin(), found.end());
  return found;
}

// "read, write": whoever may do that may see and change the status, too.
std::string kinds_text(const Rule& rule) {
  const auto has = [&rule](Kind kind) { return speaks_of(rule, kind); };
  std::string text;
  for (size_t i = 0; i < kKindLabels.size(); ++i) {
    const Kind kind = static_cast<Kind>(i);
    if (!has(kind) || (kind == Kind::kReadStatus && has(Kind::kRead)) ||
        (kind == Kind::kWriteStatus && has(Kind::kWrite)))
      continue;
    text.append(text.empty() ? "" : ", ").append(kKindLabels[i]);
  }
  return text;
}

nlohmann::json limits_json(const Limits& limits) {
  nlohmann::json out = nlohmann::json::object();
  if (limits.memory) out["memory"] = *limits.memory;
  if (limits.cpu) out["cpu"] = *limits.cpu;
  if (limits.cpu_time) out["cpu-time-ms"] = limits.cpu_time->count();
  if (limits.wall_time) out["wall-time-ms"] = limits.wall_time->count();
  if (limits.processes) out["processes"] = *limits.processes;
  if (limits.files) out["files"] = *limits.files;
  if (limits.written) out["written"] = *limits.written;
  if (limits.home) out["home"] = *limits.home;
  return out;
}

}  // namespace

nlohmann::json plan_json(const Plan& plan) {
  nlohmann::json landlock = nlohmann::json::array();
  for (const LandlockRule& rule : plan.landlock)
    landlock.push_back({{"path", rule.path}, {"access", fmt::format("{:#x}", rule.access)}});
  nlohmann::json kernel = nlohmann::json::array();
  for (const WholeTree& tree : plan.kernel_decides)
    kernel.push_back({{"path", tree.path}, {"read", tree.read}, {"write", tree.write}});
  nlohmann::json kept = nlohmann::json::array();
  for (const KeptFolder& each : plan.kept)
    kept.push_back({{"place", each.place}, {"source", each.source}});
  nlohmann::json rules = nlohmann::json::array();
  for (const Rule& rule : plan.policy->rules()) {
    nlohmann::json kinds = nlohmann::json::array();
    for (size_t i = 0; i < kKindLabels.size(); ++i)
      if ((rule.kinds >> i & 1) != 0) kinds.push_back(kKindLabels[i]);
    rules.push_back({{"verdict", label(rule.verdict)},
                     {"source", label(rule.source)},
                     {"kinds", kinds},
                     {"text", rule.text},
                     {"resolved", rule.resolved},
                     {"group", rule.group}});
  }
  return {{"program", plan.program},
          {"arguments", plan.argv},
          {"folder", plan.folder},
          {"audit", plan.enforcement == Enforcement::kAuditOnly},
          {"environment", names(plan.environment)},
          {"otherwise", plan.policy->otherwise() == Otherwise::kAsk ? "ask" : "deny"},
          {"private-tmp", plan.private_tmp},
          {"private-shm", plan.private_shm},
          {"private-home", plan.home ? nlohmann::json{{"home", plan.home->home()},
                                                      {"store", plan.home->store()},
                                                      {"real", plan.home->real()}}
                                     : nlohmann::json()},
          {"binds", plan.binds},
          {"kept", kept},
          {"hidden", plan.hidden},
          {"landlock", landlock},
          {"kernel-decides", kernel},
          {"limits", limits_json(plan.limits)},
          {"rules", rules}};
}

std::string plan_text(const Plan& plan) {
  std::string out;
  const auto line = [&out](std::string_view name, std::string_view text) {
    out += fmt::format("{:<14}{}\n", name, escape_for_display(text));
  };
  const auto list = [&](std::string_view name, const std::vector<std::string>& texts) {
    for (size_t i = 0; i < texts.size(); ++i) line(i == 0 ? name : "", texts[i]);
  };
  line("program", plan.program);
  line("folder", plan.folder);
  if (plan.enforcement == Enforcement::kAuditOnly)
    line("audit", "the policy denies nothing, what it would deny is recorded; limits are kept");
  std::string variables;
  for (const std::string& name : names(plan.environment))
    variables += (variables.empty() ? "" : " ") + name;
  line("environment", variables);
  std::vector<std::string> trees, rules;
  for (const WholeTree& tree : plan.kernel_decides)
    trees.push_back(fmt::format("{:<12}{}", rights(tree), tree.path));
  list("whole trees", trees);
  list("bound", plan.binds);
  list("hidden", plan.hidden);
  if (plan.private_tmp) line("private", "/tmp");
  if (plan.private_shm) line(plan.private_tmp ? "" : "private", "/dev/shm");
  if (plan.home) {
    line(plan.private_tmp || plan.private_shm ? "" : "private",
         fmt::format("{} in {}", plan.home->home(), plan.home->store()));
    list("of the home", plan.home->real());
  }
  for (const KeptFolder& each : plan.kept)
    line("kept", fmt::format("{} in {}", each.place, each.source));
  const nlohmann::json limits = limits_json(plan.limits);
  for (auto at = limits.begin(); at != limits.end(); ++at)
    line("limit", fmt::format("{} {}", at.key(), json_string(at.value())));
  std::map<std::string, size_t> built_in;  // by group: there are well over a thousand
  for (const Rule& rule : plan.policy->rules()) {
    if (rule.source == Rule::Source::kOtherwise) continue;
    if (rule.source == Rule::Source::kBuiltin) {
      ++built_in[rule.group];
      continue;
    }
    const std::string& text = rule.resolved.empty() ? rule.text : rule.resolved;
    rules.push_back(fmt::format("{:<6}{:<13} {:<12} {}", label(rule.verdict), label(rule.source),
                                kinds_text(rule), text.empty() ? "everything" : text));
  }
  list("rules", rules);
  std::vector<std::string> groups;
  groups.reserve(built_in.size());
  for (const auto& [group, count] : built_in)
    groups.push_back(fmt::format("{:<26}{} rule{}", group, count, count == 1 ? "" : "s"));
  list("blocklist", groups);
  line("otherwise", plan.policy->otherwise() == Otherwise::kAsk ? "ask" : "deny");
  return out;
}

}  // namespace bulkhead
