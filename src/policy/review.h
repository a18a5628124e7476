// What a person reads before code runs: what this policy lets it do, in sentences that hold.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// Sentences without a full stop, for people, escaped for display.
struct Review {
  std::vector<std::string> permits;  // "Read everything in your workspace /home/me/p"
  std::vector<std::string> cannot;   // "Read your keys and passwords: …"; only what is true
  std::vector<std::string> unusual;  // what few need and a reader should think about
};

// Folders to be called the extension's own, where ${extension} and ${storage} were spelt out
// (merge.h); those of Variables count as well.
struct OwnFolders {
  std::vector<std::string> extension, storage;
};

// `policy` is compiled from `inputs`. What the baseline says about single files and variables of
// the environment is not told (devices, /proc, the editor's own files): every compartment has that.
Review review(const PolicyInputs& inputs, const Policy& policy, const OwnFolders& own = {});

// The same in a few words: what a person reads first.
struct Brief {
  std::string usual;  // what it has of what extensions usually get, in full sentences
  std::vector<std::string> notable;  // what goes beyond that, without a full stop
};
// `usual` is compiled from the same inputs, but for the manifest: usual_manifest() (package.h), and
// without answers and lifted blocks. What is not certain to be in it is notable.
Brief brief(const PolicyInputs& inputs, const Policy& policy, const Policy& usual,
            const OwnFolders& own = {});

// What `after` allows and `before` did not, in sentences; empty where it is merely narrower or
// written otherwise. Both compiled with the same variables, sets and blocklists as `inputs`,
// which belong to `after`. Decided by the rules of both, not by their texts; what cannot be
// judged counts as widened.
std::vector<std::string> widened(const Policy& before, const PolicyInputs& inputs,
                                 const Policy& after, const OwnFolders& own = {});

// One access about which a sentence says something: "allowed", or for one of `cannot` "not allowed
// without a question".
struct Claim {
  Kind kind = Kind::kRead;
  std::string resource;
};
// What some sentences are about, for those that are made of them.
enum class Topic : uint8_t { kOther, kSecrets, kHome, kNetwork, kOtherHosts };
struct Statement {
  std::string text;
  std::vector<Claim> claims;  // examples; for tests, which ask the policy about each
  Topic topic = Topic::kOther;
  std::vector<RuleId> rules = {};  // of `unusual`: the grants that it tells of
};
struct Statements {
  std::vector<Statement> permits, cannot, unusual;
};
Statements statements(const PolicyInputs& inputs, const Policy& policy, const OwnFolders& own = {});

}  // namespace bulkhead
