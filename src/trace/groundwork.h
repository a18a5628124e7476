// What every extension host does as it starts and goes on doing, whoever its extension is: reading
// Node, VS Code's own files, the system's libraries and settings, writing below /tmp, and trying
// what it does without (is_routine()). Nineteen of twenty entries of a host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/journal.h"

namespace bulkhead {

// How the command of an extension host's run begins.
inline constexpr std::string_view kHostCommand = "extension host of ";

bool is_groundwork(const Run& run, const Event& event);

// As read_journal(), without it.
Result<std::vector<JournalRow>> read_journal_brief(const std::string& file,
                                                   const JournalFilter& filter);

// Whether that leaves something out.
Result<bool> holds_groundwork(const std::string& file, const JournalFilter& filter);

}  // namespace bulkhead
