// The options of a command line that make a policy.
#pragma once

#include <string>

#include "session/session.h"

namespace CLI {
class App;  // whose header is the heaviest of all: for the files that read options
}

namespace bulkhead {

void add_policy_options(CLI::App& app, PolicyOptions& options);

// For CLI::Option::check(): what a shell makes of a variable that is not set must not stand for
// "none".
std::string not_empty(const std::string& text);

}  // namespace bulkhead
