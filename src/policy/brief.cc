// The few words of a review that are read first: what is usual in one breath, then what is not.
#include <algorithm>
#include <set>

#include "base/path.h"
#include "policy/review_words.h"
#include "policy/rule_match.h"

namespace bulkhead {
namespace {

// "It reads and changes your workspace and keeps data of its own. It cannot read your keys …": each
// part where the policy holds it.
class Usual {
 public:
  Usual(const ReviewContext& context, const Statements& all) : context_(context), all_(all) {}

  std::string text() const {
    const std::string does = of_workspace(), keeps = of_storage(), lacks = out_of_reach();
    std::string text = does + (does.empty() || keeps.empty() ? "" : " and ") + keeps;
    if (!text.empty()) text = "It " + text + ".";
    if (!text.empty() && !lacks.empty()) text += " ";
    return text + lacks;
  }

 private:
  bool says(Topic topic) const {
    return std::any_of(all_.cannot.begin(), all_.cannot.end(),
                       [&](const Statement& each) { return each.topic == topic; });
  }
  bool all_allowed(Kind kind, const std::vector<std::string>& folders) const {
    return !folders.empty() &&
           std::all_of(folders.begin(), folders.end(), [&](const std::string& folder) {
             return decide(context_.policy, kind, join(folder, "bulkhead.probe")).verdict ==
                    Verdict::kAllow;
           });
  }
  // Apart: what nobody gets, and what a person may be asked about.
  std::string out_of_reach() const {
    const bool asks = context_.policy.otherwise() == Otherwise::kAsk;
    std::vector<std::string> never, unasked;
    if (says(Topic::kSecrets)) never.emplace_back("read your keys and passwords");
    for (const auto& [topic, words] : {std::pair{Topic::kHome, "read the rest of your home folder"},
                                       {Topic::kNetwork, "use the network"},
                                       {Topic::kOtherHosts, "connect to any other host"}})
      if (says(topic)) (asks ? unasked : never).emplace_back(words);
    const std::string list = joined(unasked, unasked.size(), "or");
    if (never.empty()) return unasked.empty() ? "" : "Unless you allow it, it cannot " + list + ".";
    return "It cannot " + joined(never, never.size(), "or") +
           (unasked.empty() ? "" : ", nor, unless you allow it, " + list) + ".";
  }
  std::string of_workspace() const {
    const bool reads = all_allowed(Kind::kRead, context_.workspace);
    const bool changes = all_allowed(Kind::kWrite, context_.workspace);
    if (!reads && !changes) return "";
    return std::string(reads && changes ? "reads and changes"
                       : reads          ? "reads"
                                        : "changes") +
           " your workspace";
  }
  std::string of_storage() const {
    return all_allowed(Kind::kWrite, context_.storage) ? "keeps data of its own" : "";
  }

  const ReviewContext& context_;
  const Statements& all_;
};

}  // namespace

Brief brief(const PolicyInputs& inputs, const Policy& policy, const Policy& usual,
            const OwnFolders& own) {
  const ReviewContext context = review_context(inputs, policy, own);
  const Statements all = statements(inputs, policy, own);
  Brief result{Usual(context, all).text(), {}};

  PolicyInputs plain = inputs;
  plain.lifted.clear();
  std::set<std::string> known;
  for (Statement& each : statements(plain, usual, own).unusual) known.insert(std::move(each.text));
  const auto is_usual = [&](RuleId id) { return ran_before(usual, policy, policy.rule(id)); };
  std::set<RuleId> told;
  for (const Statement& each : all.unusual) {
    told.insert(each.rules.begin(), each.rules.end());
    const bool runs =
        !each.rules.empty() && std::all_of(each.rules.begin(), each.rules.end(), is_usual);
    if (!runs && known.count(each.text) == 0) result.notable.push_back(each.text);
  }
  std::vector<RuleId> rest = grants_beyond(usual, context);
  std::erase_if(rest, [&](RuleId id) { return told.count(id) > 0; });
  for (const Statement& each : permits_of(context, rest)) {
    const bool sends = std::any_of(each.claims.begin(), each.claims.end(),
                                   [](const Claim& claim) { return claim.kind == Kind::kConnect; });
    result.notable.push_back(each.text + (sends ? ": what it reads can go there" : ""));
  }
  return result;
}

}  // namespace bulkhead
