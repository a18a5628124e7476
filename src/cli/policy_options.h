// The options of a command line that make a policy.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "session/session.h"

namespace bulkhead {

void add_policy_options(CLI::App& app, PolicyOptions& options);

// For CLI::Option::check(): what a shell makes of a variable that is not set must not stand for
// "none".
std::string not_empty(const std::string& text);

}  // namespace bulkhead
