#include "policy/review_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/path.h"
#include "policy/rule_match.h"
#include "policy/vscode_permissions.h"

namespace bulkhead {
namespace {

constexpr std::array kReaches = {
    VscodeReach{"terminal", true, true, "what it types runs outside of the compartment, as you"},
    VscodeReach{"tasks", true, true, "they run outside of the compartment, as you"},
    VscodeReach{"debug", true, true, "what is debugged runs outside of the compartment, as you"},
    VscodeReach{"notebooks", true, true, "their code runs outside of the compartment"},
    VscodeReach{"commands-foreign", true, true, "those act with the permissions of others"},
    VscodeReach{"settings-write-foreign", true, true,
                "some settings name programs, which run outside of the compartment"},
    VscodeReach{"workspace-folders", true, true,
                "there every extension may do what you allowed it for a workspace"},
    VscodeReach{"webview-network", false, true,
                "they run in your browser, from where they can reach any host"},
    VscodeReach{"open-external", false, true, "what it knows can leave the machine by that"},
    VscodeReach{"language-models", false, true, "what it knows can leave the machine by that"},
    VscodeReach{"tunnels", false, true, "a forwarded port can be reached from elsewhere"},
    VscodeReach{"authentication", false, false, "it acts there in your name"},
    VscodeReach{"clipboard", false, false, "what you copied may be a password"},
    VscodeReach{"terminal-read", false, false, "output can hold passwords and tokens"},
    VscodeReach{"typing", false, false, "also in files that it may not read"},
    VscodeReach{"machine-id", false, false,
                "who gets it from several extensions knows that they are yours"},
    VscodeReach{"settings-shared", false, false, "such settings can hold passwords and tokens"},
};

// Shells, interpreters and programs whose arguments or settings name other programs.
constexpr std::array<std::string_view, 46> kRunners = {
    "ash",    "awk",    "bash", "bun",    "busybox",    "bundle", "cargo",  "cmake", "csh", "dash",
    "deno",   "docker", "env",  "expect", "find",       "fish",   "gawk",   "gdb",   "git", "go",
    "gradle", "java",   "ksh",  "lua",    "make",       "mvn",    "node",   "npm",   "npx", "perl",
    "php",    "pip",    "pnpm", "podman", "powershell", "pwsh",   "python", "ruby",  "sh",  "ssh",
    "sudo",   "tclsh",  "uv",   "xargs",  "yarn",       "zsh"};

bool plain_baseline(const Rule& rule) {
  // A set, or a folder that a variable names, is worth a sentence.
  return rule.source == Rule::Source::kBaseline && !rule.text.starts_with('@') &&
         !rule.text.starts_with("${") && !speaks_of(rule, Kind::kConnect) &&
         !speaks_of(rule, Kind::kListen) && !speaks_of(rule, Kind::kVscode);
}

}  // namespace

ReviewContext review_context(const PolicyInputs& inputs, const Policy& policy,
                             const OwnFolders& own) {
  ReviewContext context{inputs, policy, inputs.variables.workspace, own.extension, own.storage,
                        12,     {}};
  const Variables& variables = inputs.variables;
  if (!variables.extension.empty()) context.extension.push_back(variables.extension);
  if (!variables.storage.empty()) context.storage.push_back(variables.storage);
  for (const Rule& rule : policy.rules()) {
    if (rule.verdict != Verdict::kDeny || rule.source == Rule::Source::kOtherwise) continue;
    if (!speaks_of(rule, Kind::kRead) && !speaks_of(rule, Kind::kWrite) &&
        !speaks_of(rule, Kind::kRun))
      continue;
    if (auto parsed = parse_resolved(rule.resolved))
      context.blocks.push_back({rule.kinds, std::move(*parsed)});
  }
  return context;
}

bool is_told(const Rule& rule) {
  return rule.verdict == Verdict::kAllow && rule.source != Rule::Source::kOtherwise &&
         rule.group != "scratch" && !rule.text.empty() && !plain_baseline(rule);
}

bool takes_effect(const ReviewContext& context, Kind kind, const Rule& rule) {
  if (!speaks_of(rule, kind)) return false;
  if (kind == Kind::kEnvironment) {
    std::string_view name = rule.resolved;
    if (name.ends_with('*')) name.remove_suffix(1);
    return context.policy.decide_environment(name).verdict == Verdict::kAllow;
  }
  if (kind == Kind::kVscode)
    return context.policy.decide_vscode(rule.resolved).verdict == Verdict::kAllow;
  const auto bit = static_cast<uint16_t>(1U << static_cast<unsigned>(kind));
  if (kind == Kind::kConnect || kind == Kind::kLookup || kind == Kind::kListen) {
    const std::vector<Rule>& rules = context.policy.rules();
    return std::none_of(rules.begin(), rules.end(), [&](const Rule& block) {
      return block.verdict == Verdict::kDeny && block.source != Rule::Source::kOtherwise &&
             block.source != Rule::Source::kTelemetry && covers(kind, block, rule);
    });
  }
  const auto parsed = parse_resolved(rule.resolved);
  if (!parsed) return true;  // what is not understood is told
  if (parsed->pattern.is_concrete()) {
    const Decision decision = context.policy.decide_path(kind, parsed->pattern.path());
    return decision.verdict == Verdict::kAllow;
  }
  return std::none_of(context.blocks.begin(), context.blocks.end(),
                      [&](const ReviewContext::Block& block) {
                        return (block.kinds & bit) != 0 && covers(block.pattern, *parsed);
                      });
}

bool runs_any_code(std::string_view path) {
  std::string_view name = last_of(path);
  // python3.11, php8.2, lua5.4
  while (!name.empty() && ((name.back() >= '0' && name.back() <= '9') || name.back() == '.'))
    name.remove_suffix(1);
  return std::find(kRunners.begin(), kRunners.end(), name) != kRunners.end();
}

std::span<const VscodeReach> vscode_reaches() { return kReaches; }

std::string_view vscode_about(std::string_view permission) {
  for (const VscodePermission& each : kVscodePermissions)
    if (each.name == permission) return each.about;
  return permission;
}

std::string joined(const std::vector<std::string>& items, size_t most, std::string_view last) {
  std::string text;
  const size_t shown = items.size() <= most ? items.size() : most - 1;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == items.size() ? fmt::format(" {} ", last) : ", ";
    text += items[i];
  }
  if (shown < items.size()) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

std::string capitalised(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z')
    result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

namespace {

std::string size_in_words(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, bytes == 1 && unit == 0 ? "byte" : kUnits[unit]);
}

std::string time_in_words(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms % 3'600'000 == 0) return fmt::format("{} h", ms / 3'600'000);
  if (ms % 60'000 == 0) return fmt::format("{} min", ms / 60'000);
  if (ms % 1000 == 0) return fmt::format("{} s", ms / 1000);
  return fmt::format("{} ms", ms);
}

}  // namespace

std::string limits_in_words(const Limits& limits, std::string_view last) {
  std::vector<std::string> parts;
  if (limits.memory) parts.push_back(size_in_words(*limits.memory) + " of memory");
  if (limits.cpu)
    parts.push_back(fmt::format("{} processor{}", *limits.cpu, *limits.cpu > 1 ? "s" : ""));
  if (limits.processes) parts.push_back(fmt::format("{} processes", *limits.processes));
  if (limits.files) parts.push_back(fmt::format("{} open files in a process", *limits.files));
  if (limits.cpu_time) parts.push_back(time_in_words(*limits.cpu_time) + " of processor time");
  if (limits.wall_time) parts.push_back(time_in_words(*limits.wall_time) + " from start to end");
  if (limits.written) parts.push_back(size_in_words(*limits.written) + " written to disk");
  if (limits.home) parts.push_back(size_in_words(*limits.home) + " in its own home folder");
  return joined(parts, parts.size(), last);
}

std::string shown_pattern(std::string_view resolved) {
  if (const std::string path = concrete_path(resolved); !path.empty())
    return escape_for_display(path);
  return escape_for_display(resolved);
}

}  // namespace bulkhead
