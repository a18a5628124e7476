// Summary: what a run denied, and how to grant it, in a few lines on standard error; or as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/nlohmann.h"
#include "policy/policy.h"
#include "sandbox/run/supervisor.h"
#include "trace/journal.h"

namespace bulkhead {

struct Refusal {
  Event event;
  std::string flag;    // what would grant it; empty where nothing can
  std::string reason;  // why not, or the rule
  std::string answer;  // where the remembered answer stands that said no; empty: none did
};

// Merged by kind and resource, the most frequent first. Without variables: see withheld_text().
std::vector<Refusal> refusals(const Policy& policy, const std::vector<Event>& denied);

// "" where nothing was denied. `width` 0: no fitting.
std::string summary_text(const std::vector<Refusal>& refusals, const Run& run, size_t width,
                         bool colour);
// A line about the variables that the program did not get, for each way to pass them. "" where it
// ended well, and where nothing else was denied: there are always some, and grep's exit code 1 is
// no failure.
std::string withheld_text(const Policy& policy, const std::vector<Event>& denied,
                          const Outcome& outcome);
nlohmann::json summary_json(const std::vector<Refusal>& refusals, const Run& run,
                            const RunReport& report, const std::vector<Event>& denied);

// JSON text in one line; bytes that are no UTF-8 become U+FFFD.
std::string to_line(const nlohmann::json& value);

}  // namespace bulkhead
