// Refusal: what a run was refused, weighed by what it means to a person, and folded to what a
// person can grant.
#pragma once

#include <string>
#include <vector>

#include "policy/manifest.h"
#include "policy/policy.h"
#include "trace/event.h"

namespace bulkhead {

// In the order in which they are told.
enum class Weight : uint8_t {
  kGuarded,  // a blocklist keeps it: keys, what runs later
  kNetwork,
  kChange,   // writing, which nothing grants
  kProgram,  // starting
  kRead,
  kNothing,  // nothing to grant or to look at: a file that is not there, an entry of /proc
};

struct Refusal {
  Event event;
  Weight weight = Weight::kRead;
  std::string flag;    // what would grant it; empty where nothing can
  std::string reason;  // why not, or the rule
  std::string answer;  // where the remembered answer stands that said no; empty: none did
  std::string group;   // of the built-in blocklist, where that refused it
  size_t folded = 1;   // how many paths it stands for
};

// Merged by kind and resource, the weightiest first, of these the most frequent. Without variables:
// see withheld_text().
std::vector<Refusal> refusals(const Policy& policy, const std::vector<Event>& denied);

// Several paths of one folder that a person would grant together become that folder.
std::vector<Refusal> folded(const Policy& policy, std::vector<Refusal> refusals);

// What a person looks at although the program ended well: what a blocklist keeps, the network, and
// changes elsewhere. The rest it did without.
std::vector<Refusal> noteworthy(std::vector<Refusal> refusals);

}  // namespace bulkhead
