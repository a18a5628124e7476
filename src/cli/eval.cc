// bulkhead eval: JavaScript in a sandbox, from the command line. What it does stands in
// js/lib/eval.cjs; this finds the Node and the addons that it needs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/path.h"
#include "cli/code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/config.h"
#include "sandbox/limits/outcome.h"

namespace bulkhead {
namespace {

struct EvalOptions {
  std::string memory, time, wall, output;
  bool json = false, install = false;
};

bool is_file(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

// Beside the program as it was built, or where `make install` puts them.
std::string find_addons(const Places& places) {
  if (const char* named = std::getenv("BULKHEAD_ADDONS"); named != nullptr && *named != '\0')
    return named;
  for (const std::string& found :
       {join(parent_of(parent_of(places.program)), "js"), installed_addons(places)})
    if (is_file(found + "/host.node") && is_file(found + "/worker.node")) return found;
  return "";
}

int fail(const std::string& text) {
  complain(text);
  return kExitFailed;
}

// Is it one that bulkhead brought, and not anybody's in PATH?
bool is_kept(const Places& places, const std::string& node) {
  return node.starts_with(places.data + "/") ||
         node.starts_with(places.home + "/.local/share/bulkhead/");
}

// Asks a person who is there; a script is told what to type instead, since it may not wait for a
// network.
bool may_fetch() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return false;
  static_cast<void>(
      write_all(STDERR_FILENO,
                "bulkhead: eval needs a Node.js of its own, and none was found. Fetch it from "
                "npm now, once (200 MB below ~/.local/share/bulkhead)? [y/N] "));
  std::string line(64, '\0');
  const ssize_t n = ::read(STDIN_FILENO, line.data(), line.size());
  return n > 0 && (line.front() == 'y' || line.front() == 'Y');
}

int eval(const EvalOptions& options, const std::vector<std::string>& rest) {
  if (rest.size() > 1)
    return fail(fmt::format("unexpected argument \"{}\": options stand before FILE", rest[1]));
  const auto places = find_places();
  if (!places.ok()) {
    complain(places.error());
    return kExitFailed;
  }
  const std::string script = places->data + "/js/lib/eval.cjs";
  const std::string addons = find_addons(*places);
  if (!is_file(script) || addons.empty())
    return fail(
        !is_source_tree(*places)
            ? fmt::format("{} is missing: install bulkhead again, whole; or name the folder "
                          "of the JavaScript sandbox's addons with BULKHEAD_ADDONS",
                          is_file(script) ? installed_addons(*places) + "/host.node" : script)
            : "the JavaScript sandbox is not built: `make build` makes it");
  const std::string node = find_node(*places);
  const bool missing = node.empty() || !is_file(node);
  std::vector<std::string> words = {node};
  if (missing || (options.install && !is_kept(*places, node))) {
    if (auto fetch = fetching(*places, "--node"); missing || !fetch.empty()) words = fetch;
  }
  if (words.empty())
    return fail(is_source_tree(*places)
                    ? "no Node.js was found: `make build` installs the right one; or name one with "
                      "BULKHEAD_NODE"
                    : "no Node.js was found, and nothing here says which one to fetch: install "
                      "bulkhead again, whole; or name one with BULKHEAD_NODE");
  if (words.front() != node && !options.install && !may_fetch())
    return fail(
        "no Node.js was found: `bulkhead eval --install` fetches the one that is pinned from npm, "
        "once, as the first `bulkhead code` does; or name one with BULKHEAD_NODE");
  // Who fetches one says which that is.
  const std::string used = words.front() == node ? node : "";
  for (const auto& [name, value] :
       {std::pair<const char*, const std::string&>{"BULKHEAD", places->program},
        {"BULKHEAD_ADDONS", addons},
        {"BULKHEAD_NODE", used},
        {"BULKHEAD_DATA", places->data}})
    ::setenv(name, value.c_str(), 1);
  words.push_back(script);
  const auto pass = [&words](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  pass("--memory", options.memory);
  pass("--time", options.time);
  pass("--wall", options.wall);
  pass("--output", options.output);
  if (options.json) words.emplace_back("--json");
  if (!rest.empty()) words.insert(words.end(), {"--", rest.front()});
  return fail(execute(words));
}

}  // namespace

Action add_eval(CommandLine& line) {
  auto options = std::make_shared<EvalOptions>();
  line.add_option("--memory", options->memory, "V8's heap (default: 64MiB)").type_name("SIZE");
  line.add_option("--time", options->time,
                  "processor time (default: 10s; at a prompt for each line)")
      .type_name("DURATION");
  line.add_option("--wall", options->wall, "time by the clock, promises and timers included")
      .type_name("DURATION");
  line.add_option("--output", options->output, "the largest result or message (default: 16MiB)")
      .type_name("SIZE");
  line.add_flag(
      "--json", options->json,
      "standard input is JSON, `input` in the script; the result or the error is a line of "
      "JSON");
  line.add_flag("--install", options->install,
                "fetch the Node.js that it needs from npm where it is not there (of an installed "
                "bulkhead; once, 200 MB), then go on");
  line.footer(
      "FILE is a script; \"-\", or none where nobody types, is standard input. Its last value is "
      "printed, a promise once it is settled. It has the language, console, timers, TextEncoder "
      "and "
      "their like, and nothing of this machine: no files, no network, no require, no import. "
      "Without "
      "FILE at a terminal there is a prompt; Ctrl-C there ends what runs.\n\n"
      "Exits with 1 where the script threw; 120: memory, 121: time, 122: output, 123: too many "
      "objects, 124: wall; 125: bulkhead itself failed; 130: Ctrl-C.\n\n"
      "  bulkhead eval --time 100ms rule.js\n"
      "  echo '[3, 4]' | bulkhead eval --json sum.js\n"
      "  echo '6 * 7' | bulkhead eval -");
  return [options](const std::vector<std::string>& rest) { return eval(*options, rest); };
}

}  // namespace bulkhead
