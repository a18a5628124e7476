#include "cli/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/path.h"
#include "cli/table.h"
#include "policy/explain.h"
#include "policy/judge.h"
#include "vscode/json_string.h"

namespace bulkhead {
namespace {

constexpr size_t kMostLines = 10;

std::string_view outcome_name(const Outcome& outcome) {
  struct Name {
    std::string_view operator()(const Exited&) const { return "exited"; }
    std::string_view operator()(const Signaled&) const { return "signaled"; }
    std::string_view operator()(const CannotRun&) const { return "cannot-run"; }
    std::string_view operator()(const LimitBreached&) const { return "limit"; }
    std::string_view operator()(const SupervisorFailed&) const { return "failed"; }
    std::string_view operator()(const Ended&) const { return "ended"; }
  };
  return std::visit(Name{}, outcome);
}

// What the address is called, or which address the name has, where both are known.
std::string other_end(const Event& event) {
  const size_t space = event.detail.find(' ');
  if (event.kind != Kind::kConnect || space == std::string::npos) return "";
  return fmt::format(" ({})", event.detail.substr(space + 1));
}

// The machine's own C library: without it nothing starts.
bool is_system_library(const Event& event) {
  const std::string_view name = last_of(event.resource);
  return event.kind == Kind::kRead && name.starts_with("libc.so.") &&
         (is_within(event.resource, "/usr/lib") || is_within(event.resource, "/lib"));
}

}  // namespace

namespace {

std::string first_line(const std::vector<Refusal>& refusals, const Run& run) {
  uint64_t total = 0;
  bool own_home = false;
  for (const Refusal& refusal : refusals) {
    total += refusal.event.count;
    own_home = own_home || is_own_home(refusal.event.rule);
  }
  return fmt::format("bulkhead: {} {} denied{}{}", total,
                     total == 1 ? "access was" : "accesses were",
                     own_home ? ", or found its own home folder" : "",
                     run.audit ? " by the policy, and let pass (--audit)" : "");
}

std::string resource_text(const Refusal& refusal) {
  if (refusal.folded < 2) return refusal.event.resource + other_end(refusal.event);
  return fmt::format("{} ({} paths in it)", refusal.event.resource, refusal.folded);
}

// Each flag once, in the order of the rows; "--unblock GROUP" where a workspace may lift it.
std::string granting_flags(const std::vector<Refusal>& refusals) {
  std::vector<std::string> flags;
  for (const Refusal& refusal : refusals)
    if (!refusal.flag.empty() && std::find(flags.begin(), flags.end(), refusal.flag) == flags.end())
      flags.push_back(refusal.flag);
  std::string out;
  for (const std::string& flag : flags) out += " " + escape_quoted(flag);
  return out;
}

std::string lifting_lines(const std::vector<Refusal>& refusals,
                          const std::vector<std::string>& liftable) {
  std::set<std::string> groups;
  for (const Refusal& refusal : refusals)
    if (std::find(liftable.begin(), liftable.end(), refusal.group) != liftable.end())
      groups.insert(refusal.group);
  std::string out;
  for (const std::string& group : groups)
    out += fmt::format(
        "  to let this project's programs write that from now on: bulkhead unblock {}\n", group);
  return out;
}

}  // namespace

std::string summary_text(const std::vector<Refusal>& refusals, const Run& run,
                         const std::vector<std::string>& liftable, const SummaryStyle& style) {
  if (refusals.empty()) return "";
  std::string out = paint(first_line(refusals, run), Colour::kBold, style.colour) + "\n";
  Table table({{"", true}, {""}, {"", false, 12}, {"", false, 8}});
  const size_t shown = refusals.size() > kMostLines ? kMostLines - 1 : refusals.size();
  for (size_t i = 0; i < shown; ++i) {
    const Refusal& refusal = refusals[i];
    table.add({{fmt::format("{}×", refusal.event.count)},
               {std::string(label(refusal.event.kind))},
               {resource_text(refusal)},
               {refusal.flag.empty() ? refusal.reason : "", Colour::kDim}});
  }
  out += table.to_string(style.width, style.colour, false, 2);
  if (shown < refusals.size()) out += fmt::format("  and {} more\n", refusals.size() - shown);
  // Whole, however wide: it is there to be copied.
  if (const std::string flags = granting_flags(refusals); !flags.empty())
    out += "  to grant:" + paint(flags, Colour::kGreen, style.colour) + "\n";
  out += lifting_lines(refusals, liftable);
  if (std::any_of(refusals.begin(), refusals.end(),
                  [](const Refusal& refusal) { return is_system_library(refusal.event); }))
    out +=
        "  no program starts without the system's libraries: add \"@system\" to \"files.read\" in "
        "the manifest, or run with --read @system\n";
  const auto answer = std::find_if(refusals.begin(), refusals.end(),
                                   [](const Refusal& refusal) { return !refusal.answer.empty(); });
  if (answer != refusals.end())
    out += fmt::format("  to be asked again: remove the answer at {}\n", answer->answer);
  out += fmt::format("  all of them: bulkhead log --denied --run {}\n", run.id);
  return out;
}

namespace {

// "_" is the shell's, and tells what it started: us.
bool is_of_interest(std::string_view name) { return name != "_" && !name.starts_with("BULKHEAD_"); }

std::vector<std::string> withheld(const std::vector<Event>& denied) {
  std::vector<std::string> names;
  for (const Event& event : denied)
    if (event.kind == Kind::kEnvironment && event.enforced && is_of_interest(event.resource))
      names.push_back(event.resource);
  std::sort(names.begin(), names.end());
  return names;
}

// "--unblock secret-variables --env NAME"; empty where it takes more than flags.
std::string passing_flags(const Policy& policy, const std::string& name) {
  std::string flags;
  for (const ChangeStep& step : explain(policy, Kind::kEnvironment, name).steps) {
    if (step.what == ChangeStep::What::kUnblock)
      flags += fmt::format("--unblock {} ", step.text);
    else if (step.what != ChangeStep::What::kGrant)
      return "";
  }
  return flags + "--env NAME";
}

}  // namespace

std::string withheld_text(const Policy& policy, const std::vector<Event>& denied,
                          const Outcome& outcome) {
  constexpr size_t kMostNames = 8;
  const auto* exited = std::get_if<Exited>(&outcome);
  if (exited != nullptr && exited->code == 0) return "";
  if (std::all_of(denied.begin(), denied.end(), is_routine)) return "";
  std::map<std::string, std::vector<std::string>> by_flags;
  for (const std::string& name : withheld(denied))
    by_flags[passing_flags(policy, name)].push_back(name);
  std::string out;
  for (const auto& [flags, names] : by_flags) {
    std::string list;
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
      list += (i == 0 ? "" : ", ") + escape_for_display(names[i]);
    if (names.size() > kMostNames) list += ", …";
    out += fmt::format("bulkhead: {} {} withheld: {}; {}\n", names.size(),
                       names.size() == 1 ? "variable was" : "variables were", list,
                       flags.empty() ? "blocked, which no flag lifts" : flags + " passes one");
  }
  return out;
}

nlohmann::json summary_json(const std::vector<Refusal>& refusals, const Run& run,
                            const RunReport& report, const std::vector<Event>& all) {
  nlohmann::json denied = nlohmann::json::array();
  for (const Refusal& refusal : refusals) {
    denied.push_back({{"kind", label(refusal.event.kind)},
                      {"resource", refusal.event.resource},
                      {"count", refusal.event.count},
                      {"program", refusal.event.program},
                      {"rule", refusal.event.rule},
                      {"enforced", refusal.event.enforced},
                      {"flag", refusal.flag}});
  }
  return {{"run", run.id},
          {"subject", run.subject},
          {"audit", run.audit},
          {"outcome", outcome_name(report.outcome)},
          {"description", describe(report.outcome)},
          {"exit", exit_code(report.outcome)},
          {"notifications", report.notifications},
          {"peak-memory",
           report.peak_memory > 0 ? nlohmann::json(report.peak_memory) : nlohmann::json()},
          {"withheld", withheld(all)},
          {"denied", denied}};
}

std::string to_line(const nlohmann::json& value) { return json_string(value) + "\n"; }

}  // namespace bulkhead
