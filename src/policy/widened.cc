// What a new version asks for beyond the approved one: grants that no grant of the approved policy
// covers, blocks that are gone, limits that are higher.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/path.h"
#include "policy/review_words.h"

namespace bulkhead {
namespace {

constexpr std::array kKinds = {Kind::kRead,        Kind::kWrite,      Kind::kRun,
                               Kind::kConnect,     Kind::kLookup,     Kind::kListen,
                               Kind::kEnvironment, Kind::kReadStatus, Kind::kVscode};

bool is_grant(const Rule& rule) {
  return rule.verdict == Verdict::kAllow && rule.group != "scratch" && !rule.text.empty();
}
bool is_block(const Rule& rule) {
  return rule.verdict == Verdict::kDeny && rule.source != Rule::Source::kOtherwise &&
         rule.source != Rule::Source::kTelemetry && !rule.resolved.empty();
}

// The grants of a policy, or its blocks. Most rules of two versions are the same to the letter,
// which is found without comparing patterns.
class RuleList {
 public:
  RuleList(const Policy& policy, bool (*belongs)(const Rule&)) {
    for (const Rule& rule : policy.rules()) {
      if (!belongs(rule)) continue;
      rules_.push_back(&rule);
      for (const Kind kind : kKinds)
        if (speaks_of(rule, kind)) same_.insert(key(rule, kind));
    }
  }
  // Past the budget nothing is certain, so nothing is covered.
  bool covers(const Rule& rule, Kind kind) {
    if (same_.count(key(rule, kind)) > 0) return true;
    if (rules_.size() > budget_) return false;
    budget_ -= rules_.size();
    return std::any_of(rules_.begin(), rules_.end(),
                       [&](const Rule* each) { return bulkhead::covers(kind, *each, rule); });
  }
  const std::vector<const Rule*>& rules() const { return rules_; }

 private:
  static std::string key(const Rule& rule, Kind kind) {
    const std::string& name = rule.resolved.empty() ? rule.text : rule.resolved;
    return fmt::format("{}{}{}", label(kind), rule.resolved.empty() ? '?' : '=', name);
  }
  std::vector<const Rule*> rules_;
  std::unordered_set<std::string> same_;
  size_t budget_ = 1'000'000;  // comparisons: about half a second
};

std::string_view verb(Kind kind) {
  switch (kind) {
    case Kind::kRead:
      return "read";
    case Kind::kReadStatus:
      return "look for";
    case Kind::kWrite:
      return "change";
    case Kind::kRun:
      return "run";
    case Kind::kConnect:
    case Kind::kLookup:
      return "connect to";
    case Kind::kListen:
      return "be reached at port";
    case Kind::kEnvironment:
      return "see the environment variable";
    default:
      return "use";
  }
}

template <typename T>
bool is_higher(const std::optional<T>& before, const std::optional<T>& after) {
  return before && (!after || *after > *before);
}

// Only those limits of `after` that are higher, with what stood there before.
void tell_limits(const Limits& before, const Limits& after, std::vector<std::string>* found) {
  const auto tell = [&](auto member) {
    if (!is_higher(before.*member, after.*member)) return;
    Limits was, is;
    was.*member = before.*member;
    is.*member = after.*member;
    found->push_back(
        after.*member
            ? fmt::format("Use {}, not {} as before", limits_in_words(is), limits_in_words(was))
            : fmt::format("Use more than {}, which was the limit before", limits_in_words(was)));
  };
  tell(&Limits::memory);
  tell(&Limits::cpu);
  tell(&Limits::processes);
  tell(&Limits::files);
  tell(&Limits::cpu_time);
  tell(&Limits::wall_time);
  tell(&Limits::written);
}

}  // namespace

bool ran_before(const Policy& before, const Policy& after, const Rule& rule) {
  const std::string path = concrete_path(rule.resolved);
  if (path.empty() || !speaks_of(rule, Kind::kRun)) return false;
  const auto& folders = after.runnable_trees();
  const bool is_folder = std::find(folders.begin(), folders.end(), path) != folders.end();
  const std::string program = is_folder ? join(path, "bulkhead.probe") : path;
  return before.decide_path(Kind::kRun, program).verdict == Verdict::kAllow;
}

std::vector<RuleId> grants_beyond(const Policy& before, const ReviewContext& context) {
  RuleList old_grants(before, is_grant);
  std::vector<RuleId> more;
  for (RuleId id = 0; id < context.policy.rules().size(); ++id) {
    const Rule& rule = context.policy.rule(id);
    if (!is_grant(rule)) continue;
    // Reading status is free, so only a block can say something about it.
    const bool is_new = std::any_of(kKinds.begin(), kKinds.end(), [&](Kind kind) {
      return kind != Kind::kReadStatus && speaks_of(rule, kind) && !old_grants.covers(rule, kind) &&
             !(kind == Kind::kRun && ran_before(before, context.policy, rule)) &&
             (rule.resolved.empty() || takes_effect(context, kind, rule));
    });
    if (is_new) more.push_back(id);
  }
  return more;
}

std::vector<std::string> widened(const Policy& before, const PolicyInputs& inputs,
                                 const Policy& after, const OwnFolders& own) {
  ReviewContext context = review_context(inputs, after, own);
  context.most = 64;
  RuleList new_grants(after, is_grant), new_blocks(after, is_block);
  const std::vector<RuleId> more = grants_beyond(before, context);
  std::vector<std::string> found;
  for (Statement& each : permits_of(context, more)) found.push_back(std::move(each.text));
  // Nothing that was found to be new may be lost for want of a sentence.
  if (found.empty())
    for (const RuleId id : more)
      found.push_back(fmt::format("Use what {} grants", shown_pattern(after.rule(id).text)));

  for (const Rule& block : before.rules()) {
    if (!is_block(block)) continue;
    std::vector<std::string> verbs;
    for (const Kind kind : kKinds) {
      if (!speaks_of(block, kind) || new_blocks.covers(block, kind)) continue;
      // Status is free once nothing hides it; anything else needs a grant, or a question.
      const auto meets = [&](const Rule* rule) { return may_meet(kind, *rule, block); };
      const auto& grants = new_grants.rules();
      if (kind != Kind::kReadStatus && after.otherwise() != Otherwise::kAsk &&
          std::none_of(grants.begin(), grants.end(), meets))
        continue;
      if (std::find(verbs.begin(), verbs.end(), verb(kind)) == verbs.end())
        verbs.emplace_back(verb(kind));
    }
    if (verbs.empty()) continue;
    std::string text = fmt::format("{} {}, which was blocked before", capitalised(joined(verbs)),
                                   shown_pattern(block.resolved));
    if (std::find(found.begin(), found.end(), text) == found.end())
      found.push_back(std::move(text));
  }
  tell_limits(before.limits(), after.limits(), &found);
  if (before.otherwise() == Otherwise::kDeny && after.otherwise() == Otherwise::kAsk)
    found.push_back("Ask you, while it runs, about what was simply refused before");
  return found;
}

}  // namespace bulkhead
