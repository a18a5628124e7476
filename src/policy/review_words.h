// Words for reviews: private to review.cc, review_permits.cc and widened.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/covers.h"
#include "policy/policy.h"
#include "policy/review.h"

namespace bulkhead {

// What sentences are made from.
struct ReviewContext {
  const PolicyInputs& inputs;
  const Policy& policy;
  std::vector<std::string> workspace, extension, storage;  // what counts as which
  size_t most = 12;                                        // items that a sentence lists
  struct Block {
    uint16_t kinds;
    ResolvedPattern pattern;
  };
  std::vector<Block> blocks;  // of paths
};
ReviewContext review_context(const PolicyInputs& inputs, const Policy& policy,
                             const OwnFolders& own);

// Grants about which people are told: everything but scratch and what every compartment has.
bool is_told(const Rule& rule);
// False where a block takes all of it back.
bool takes_effect(const ReviewContext& context, Kind kind, const Rule& rule);

// What these rules permit, grouped; one sentence for each group.
std::vector<Statement> permits_of(const ReviewContext& context, std::span<const RuleId> rules);

// The grants of `context.policy` that no grant of `before` covers.
std::vector<RuleId> grants_beyond(const Policy& before, const ReviewContext& context);

// Whether `rule` of `after` lets run what `before` let run too, by whatever rule: with @programs a
// compartment runs what it may read, and one that names some of that has no more of it.
bool ran_before(const Policy& before, const Policy& after, const Rule& rule);

// A program that runs whatever it is given, by its name in `path`; and what kind of thing that is.
bool runs_any_code(std::string_view path);

// A permission that reaches beyond the compartment, and how.
struct VscodeReach {
  std::string_view permission;
  // What its user can do then is not bounded by this policy.
  bool leaves;
  // What was read can be sent away by it.
  bool sends;
  std::string_view consequence;
};
std::span<const VscodeReach> vscode_reaches();
std::string_view vscode_about(std::string_view permission);

// "a, b and c"; where there are more than `most`: "a, b and 17 more".
std::string joined(const std::vector<std::string>& items, size_t most = 12,
                   std::string_view last = "and");
std::string capitalised(std::string_view text);
// "512 MiB of memory and 16 processes".
std::string limits_in_words(const Limits& limits, std::string_view last = "and");
// The path of a concrete pattern; the pattern as written else. Escaped for display.
std::string shown_pattern(std::string_view resolved);

}  // namespace bulkhead
