// The options of a command line that make a policy.
#pragma once

#include <string>

#include "cli/command_line.h"
#include "session/session.h"

namespace bulkhead {

void add_policy_options(CommandLine& line, PolicyOptions& options);

// For Option::check(): what a shell makes of a variable that is not set must not stand for
// "none".
std::string not_empty(const std::string& text);

}  // namespace bulkhead
