// Verb: one word after `bulkhead`. Each stands in a file of its own and is listed in verbs.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"

namespace bulkhead {

// What a verb's file gives: its options go onto the command line; the returned function runs the
// verb once they are parsed. `rest` holds the words of a command (`bulkhead run … -- PROGRAM
// ARGS`).
using Action = std::function<int(const std::vector<std::string>& rest)>;

inline constexpr const char* kCommand = "PROGRAM [ARGS...]";

struct Verb {
  const char* name;
  const char* summary;
  // What follows the options, and is the verb's own to read: everything from the first word on that
  // is no option of ours; nullptr: nothing.
  const char* rest;
  bool takes_command() const { return rest != nullptr && std::string_view(rest) == kCommand; }
  Action (*add)(CommandLine& line);
};

// In the order of --help.
std::span<const Verb> verbs();

Action add_run(CommandLine& line);
Action add_code(CommandLine& line);
Action add_host(CommandLine& line);
Action add_isolate(CommandLine& line);
Action add_eval(CommandLine& line);
Action add_explain(CommandLine& line);
Action add_check(CommandLine& line);
Action add_review(CommandLine& line);
Action add_unblock(CommandLine& line);
Action add_shim(CommandLine& line);
Action add_home(CommandLine& line);
Action add_log(CommandLine& line);
Action add_doctor(CommandLine& line);
Action add_completion(CommandLine& line);

// The parser of a verb, from which completions and help are made too, so that they tell
// what is really parsed.
struct ParsedVerb {
  std::unique_ptr<CLI::App> app;
  Action action;
};
ParsedVerb parser_of(const Verb& verb);
std::string help_text(const Verb& verb, const CLI::App& app);
std::string help_text();

// All of it: parses, runs the verb, returns the exit code.
int run_command_line(int argc, const char* const* argv);

}  // namespace bulkhead
