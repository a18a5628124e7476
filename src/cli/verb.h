// Verb: one word after `bulkhead`. Each stands in a file of its own and is listed in verbs.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;  // whose header is the heaviest of all: for the files that read options
}

namespace bulkhead {

// What a verb's file gives: the options go onto `app`; the returned function runs the verb once
// they are parsed. `rest` holds the words of a command (`bulkhead run … -- PROGRAM ARGS`).
using Action = std::function<int(const std::vector<std::string>& rest)>;

inline constexpr const char* kCommand = "PROGRAM [ARGS...]";

struct Verb {
  const char* name;
  const char* summary;
  // What follows the options, and is the verb's own to read: everything from the first word on that
  // is no option of ours; nullptr: nothing.
  const char* rest;
  bool takes_command() const { return rest == kCommand; }
  Action (*add)(CLI::App& app);
};

// In the order of --help.
std::span<const Verb> verbs();

Action add_run(CLI::App& app);
Action add_code(CLI::App& app);
Action add_host(CLI::App& app);
Action add_isolate(CLI::App& app);
Action add_eval(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_check(CLI::App& app);
Action add_review(CLI::App& app);
Action add_unblock(CLI::App& app);
Action add_log(CLI::App& app);
Action add_doctor(CLI::App& app);
Action add_completion(CLI::App& app);

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
