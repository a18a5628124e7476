// Summary: what a run denied, and how to grant it, in a few lines on standard error; or as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/nlohmann.h"
#include "cli/refusal.h"
#include "policy/policy.h"
#include "sandbox/run/supervisor.h"
#include "trace/journal.h"

namespace bulkhead {

// What a run's last words are made of.
struct SummaryStyle {
  size_t width = 0;  // 0: no fitting
  bool colour = false;
};
// "" where nothing was denied. `liftable`: names of groups that `bulkhead unblock` lifts for a
// workspace.
std::string summary_text(const std::vector<Refusal>& refusals, const Run& run,
                         const std::vector<std::string>& liftable, const SummaryStyle& style);
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
