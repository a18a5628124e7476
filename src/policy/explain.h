// Why a decision fell as it did, and the smallest change that would alter it.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// One edit. All of a change's steps together alter the decision: `change` is made of them, and
// tests apply them and compile again.
struct ChangeStep {
  enum class What : uint8_t {
    kGrant,    // add `text` to the manifest's list for `kind`, or give the flag
    kUnblock,  // lift the built-in block group `text` for a run
    kRemove,   // remove the entry `text` at `where`, or the flag, or the remembered answer
    kBlock,    // add `text` to files.block, or for other kinds to a group of the user's policy.json
    kHide,     // add `text` to files.hide
  } what = What::kGrant;
  Kind kind = Kind::kRead;
  std::string text;                               // an entry in the manifest's syntax
  bool of_workspace = false;                      // kUnblock: `bulkhead unblock` lifts it too
  Rule::Source source = Rule::Source::kManifest;  // kRemove: what it is removed from
  Location where;
};

struct Explanation {
  Decision decision;
  Kind kind = Kind::kRead;
  std::string resource;           // as decided: canonical path, host:port, name
  std::string because;            // a sentence that names the rule, its file and line
  std::vector<RuleId> also;       // other rules that matched: overruled, or saying the same
  std::vector<ChangeStep> steps;  // empty where nothing that you can edit would alter it
  std::string change;             // the steps in words, or why there are none
};

// What would allow a denied access, or deny an allowed one. For kConnect to a host name the answer
// holds for its public addresses.
// Without `flags`, no flag of run could name it, and none is proposed.
Explanation explain(const Policy& policy, Kind kind, std::string_view resource, bool flags = true);

// One word of a shell. What a terminal could take amiss is written byte by byte.
std::string shell_word(std::string_view text);

// "--read /a/b": the run flag that would grant this, quoted for a shell where that is needed; empty
// where no flag can (blocked, allowed anyway, or no flag grants this kind), or where one would
// grant more than that (a name that is a pattern, a folder that was to be changed).
std::string granting_flag(const Policy& policy, Kind kind, std::string_view resource);

// The flag that grants to make files in a folder, and to read them back; empty where that would be
// more than anybody means, or a block speaks of the folder.
std::string folder_flag(const Policy& policy, Kind kind, const std::string& folder);

}  // namespace bulkhead
