#include "cli/refusal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/path.h"
#include "policy/executable_trees.h"
#include "policy/explain.h"
#include "policy/judge.h"
#include "policy/only_asked.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

// Tools look for these at each start, npm for ~/.npmrc and git for ~/.netrc: where the compartment
// has a home of its own, a look alone says nothing of what they are up to.
constexpr std::array<std::string_view, 3> kLookedForByTools = {
    "registry-credentials", "network-passwords", "git-credentials"};

bool is_missing(const std::string& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() ==
         std::filesystem::file_type::not_found;
}

bool reads(Kind kind) { return kind == Kind::kRead || kind == Kind::kReadStatus; }
bool writes(Kind kind) { return kind == Kind::kWrite || kind == Kind::kWriteStatus; }

// What a run cannot be granted any more: only `--write` takes a name that is not there. A program
// in the compartment's own /tmp never was there outside, and is granted with that.
bool is_gone(const Policy& policy, const Event& event) {
  if (event.kind == Kind::kRun && !own_tree_of(policy, event.resource).empty()) return false;
  return (event.kind == Kind::kRead || event.kind == Kind::kRun) && is_missing(event.resource);
}

bool is_remembered(const Event& event) {
  return event.rule.starts_with(fmt::format("{}:", label(Rule::Source::kRemembered)));
}

// A person has just said so: how to allow it is not what they want to read.
bool is_answered_never(const Event& event) {
  return event.asked && event.rule.ends_with("(answered: never)");
}

bool is_path_kind(Kind kind) { return reads(kind) || writes(kind) || kind == Kind::kRun; }

// The rule of a blocklist that keeps a path, by its group; nothing where none does.
const Rule* blocking_rule(const Policy& policy, const Event& event) {
  if (!is_path_kind(event.kind)) return nullptr;
  const Rule& rule = policy.rule(policy.decide_path(event.kind, event.resource).rule);
  const bool listed = rule.source == Rule::Source::kBuiltin ||
                      rule.source == Rule::Source::kOrganisation ||
                      rule.source == Rule::Source::kUser;
  return listed && rule.verdict == Verdict::kDeny ? &rule : nullptr;
}

bool is_of_the_system(const std::string& path) {
  return is_within(path, "/proc") || is_within(path, "/sys") || is_within(path, "/dev");
}

// Whether whoever runs this could write there without bulkhead. Where not, the program lost nothing
// by it: Python tries to leave compiled files beside the system's, man to keep its pages.
bool could_write(const std::string& path) {
  std::string place = path;
  while (place.size() > 1 && is_missing(place)) place = std::string(parent_of(place));
  return ::access(place.c_str(), W_OK) == 0;
}

Weight weigh(const Policy& policy, const Refusal& refusal) {
  const Event& event = refusal.event;
  if (event.kind == Kind::kConnect || event.kind == Kind::kLookup) return Weight::kNetwork;
  const Rule* const blocked = blocking_rule(policy, event);
  const bool unseen = is_own_home(event.rule);
  if (event.rule == kUnseenBlocked || (blocked != nullptr && !unseen)) {
    const bool looked_for = unseen && std::find(kLookedForByTools.begin(), kLookedForByTools.end(),
                                                refusal.group) != kLookedForByTools.end();
    return looked_for ? Weight::kRead : Weight::kGuarded;
  }
  if (unseen) return Weight::kRead;
  if (!is_path_kind(event.kind)) return Weight::kChange;  // an interface of the kernel's
  if (reads(event.kind) && is_missing(event.resource)) return Weight::kNothing;
  if (is_of_the_system(event.resource)) return Weight::kNothing;
  if (writes(event.kind)) return could_write(event.resource) ? Weight::kChange : Weight::kRead;
  return event.kind == Kind::kRun ? Weight::kProgram : Weight::kRead;
}

// A folder that a person may grant whole without a second thought about what else lies in it.
bool is_narrow(const Policy& policy, const std::string& folder) {
  if (std::count(folder.begin(), folder.end(), '/') < 3 || is_of_the_system(folder)) return false;
  const auto holds = [&folder](const std::string& path) { return is_within(path, folder); };
  return !holds(policy.private_home()) &&
         std::none_of(policy.workspace().begin(), policy.workspace().end(), holds);
}

std::string_view flag_name(const Refusal& refusal) {
  return std::string_view(refusal.flag).substr(0, refusal.flag.find(' '));
}

using Merged = std::map<std::pair<Kind, std::string>, Event>;

// What was to be made and read back (O_RDWR), by its path: the folder. No flag can name it, for it
// is not there, nor what is made beside it.
std::map<std::string, std::string> to_be_made(const Policy& policy, const Merged& merged) {
  std::map<std::string, std::string> made;
  for (const auto& [key, event] : merged)
    if (key.first == Kind::kRead && merged.contains({Kind::kWrite, key.second}) &&
        is_gone(policy, event))
      made.emplace(key.second, parent_of(key.second));
  return made;
}

}  // namespace

std::vector<Refusal> refusals(const Policy& policy, const std::vector<Event>& denied) {
  Merged merged;
  for (const Event& event : denied) {
    if (is_routine(event) || event.rule == kOnlyAsked) continue;
    const auto [at, added] = merged.try_emplace({event.kind, event.resource}, event);
    if (!added) at->second.count += event.count;
  }
  const auto made = to_be_made(policy, merged);
  std::vector<Refusal> found;
  found.reserve(merged.size());
  for (auto& [key, event] : merged) {
    Refusal& refusal = found.emplace_back();
    refusal.event = std::move(event);
    const bool final = refusal.event.rule == kPlanted || refusal.event.rule == kUnseenBlocked;
    if (const auto folder = made.find(refusal.event.resource); folder != made.end())
      refusal.flag = folder_flag(policy, refusal.event.kind, folder->second);
    else if (refusal.event.kind != Kind::kSystem && !final && !is_answered_never(refusal.event) &&
             !is_gone(policy, refusal.event))
      refusal.flag = granting_flag(policy, refusal.event.kind, refusal.event.resource);
    refusal.reason = refusal.event.rule;
    if (const Rule* rule = blocking_rule(policy, refusal.event);
        rule != nullptr && rule->source == Rule::Source::kBuiltin)
      refusal.group = rule->group;
    refusal.weight = weigh(policy, refusal);
    if (made.contains(refusal.event.resource)) refusal.weight = Weight::kChange;
    if (!is_remembered(refusal.event)) continue;
    const Explanation why = explain(policy, refusal.event.kind, refusal.event.resource);
    for (const ChangeStep& step : why.steps)
      if (step.source == Rule::Source::kRemembered) refusal.answer = place(step.where);
  }
  std::stable_sort(found.begin(), found.end(), [](const Refusal& a, const Refusal& b) {
    return std::pair(a.weight, -static_cast<int64_t>(a.event.count)) <
           std::pair(b.weight, -static_cast<int64_t>(b.event.count));
  });
  return found;
}

std::vector<Refusal> folded(const Policy& policy, std::vector<Refusal> refusals) {
  constexpr size_t kTogether = 3;
  const auto key_of = [](const Refusal& refusal) {
    return std::pair(std::string(flag_name(refusal)),
                     std::string(parent_of(refusal.event.resource)));
  };
  for (int round = 0; round < 2; ++round) {
    std::map<std::pair<std::string, std::string>, size_t> together;
    for (const Refusal& each : refusals)
      if (!each.flag.empty() && is_path_kind(each.event.kind)) ++together[key_of(each)];
    std::vector<Refusal> kept;
    std::map<std::pair<std::string, std::string>, size_t> at;
    for (Refusal& each : refusals) {
      const auto key = key_of(each);
      const auto found = together.find(key);
      const bool joins = !each.flag.empty() && is_path_kind(each.event.kind) &&
                         found != together.end() && found->second >= kTogether &&
                         is_narrow(policy, key.second);
      if (!joins) {
        kept.push_back(std::move(each));
        continue;
      }
      const auto [place, first] = at.try_emplace(key, kept.size());
      if (first) {
        each.event.resource = key.second;
        each.flag = fmt::format("{} {}", key.first, shell_word(key.second));
        kept.push_back(std::move(each));
      } else {
        Refusal& one = kept[place->second];
        one.event.count += each.event.count;
        one.folded += each.folded;
      }
    }
    refusals = std::move(kept);
  }
  return refusals;
}

std::vector<Refusal> noteworthy(std::vector<Refusal> refusals) {
  std::erase_if(refusals, [](const Refusal& each) {
    return each.weight == Weight::kRead || each.weight == Weight::kProgram ||
           each.weight == Weight::kNothing;
  });
  return refusals;
}

}  // namespace bulkhead
