// bulkhead host: one extension host of VS Code in a compartment. Started by the editor's server in
// place of Node (vscode/launcher/preload.cjs), not by people.
#include <fcntl.h>
#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/config.h"
#include "policy/extension_id.h"
#include "sandbox/limits/outcome.h"
#include "session/program.h"
#include "session/session.h"
#include "trace/groundwork.h"
#include "vscode/extension_host.h"
#include "vscode/seal.h"

namespace bulkhead {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// What nobody else is to read, neither a child nor in /proc/PID/environ.
std::string take_variable(const char* name) {
  char* const value = std::getenv(name);
  if (value == nullptr) return {};
  std::string text = value;
  ::explicit_bzero(value, text.size());
  ::unsetenv(name);
  return text;
}

// The channel that Node's fork() gave us, as it would have given it to Node.
Result<Fd> inherited_channel() {
  const std::string text = variable("NODE_CHANNEL_FD");
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 3 ||
      ::fcntl(number, F_SETFD, FD_CLOEXEC) != 0)
    return Error{
        "`bulkhead host` is started by the editor's server; start it with `bulkhead code`"};
  return Fd(number);
}

// To the launcher, which tells it to a person (vscode/launcher/said.mjs).
int fail(const std::string& mark, const Error& error) {
  say_sealed(mark, fmt::format("bulkhead host: {}", to_string(error)));
  return kExitFailed;
}

struct MissingHost {
  std::string id, why, workspace;
};

int host(const std::string& launch_file, const std::vector<std::string>& command) {
  ExtensionHostOptions options;
  const std::string mark = take_variable("BULKHEAD_MARK");
  options.mark = mark;
  auto channel = inherited_channel();
  if (!channel.ok()) return fail(mark, channel.error());
  options.server = std::move(channel).value();
  options.launch_file = launch_file;
  options.command = command;
  options.window = variable("BULKHEAD_WINDOW");
  options.folder = variable("BULKHEAD_FOLDER");
  options.workspace = variable("BULKHEAD_WORKSPACE");
  options.whole = variable("BULKHEAD_WHOLE");
  options.identity = variable("BULKHEAD_IDENTITY");
  options.trace = variable("BULKHEAD_TRACE") == "1";
  options.review_all = variable("BULKHEAD_REVIEW_ALL") == "1";
  const auto code = run_extension_host(std::move(options));
  return code.ok() ? *code : fail(mark, code.error());
}

// Of a host that never came, the companion tells the journal: an entry, in a run that ended at
// once.
int note_missing(const MissingHost& missing) {
  const Status noted = [&]() -> Status {
    if (!is_extension_id(missing.id))
      return Error{fmt::format("--missing {}: no id of an extension", missing.id), EINVAL};
    BULKHEAD_TRY(const Places places, find_places());
    Run run;
    BULKHEAD_TRY(run.id, new_run_id());
    run.subject = missing.id;
    run.command = std::string(kHostCommand) + missing.id;
    run.workspace = missing.workspace;
    const std::string why = fmt::format("it did not start: {}", missing.why);
    BULKHEAD_TRY(auto journal, Journal::open(places.journal(), run));
    Event event;
    event.time = std::chrono::system_clock::now();
    event.kind = Kind::kRun;
    event.resource = places.program;
    event.rule = why;
    event.program = places.program;
    event.detail = "host";
    journal->record(std::move(event));
    return journal->finish(why);
  }();
  if (noted.ok()) return 0;
  complain(noted.error());
  return kExitFailed;
}

}  // namespace

Action add_host(CommandLine& line) {
  auto launch = std::make_shared<std::string>();
  auto missing = std::make_shared<MissingHost>();
  const Option started = line.add_option("--launch", *launch, "what `bulkhead code` prepared");
  started.type_name("FILE");
  const Option absent = line.add_option(
      "--missing", missing->id, "note in the journal that this extension's host never came");
  absent.type_name("ID").excludes(started);
  line.add_option("--why", missing->why, "in words").type_name("TEXT").needs(absent);
  line.add_option("--workspace", missing->workspace, "of the window")
      .type_name("FOLDER")
      .needs(absent);
  return [launch, missing, started](const std::vector<std::string>& rest) {
    if (!missing->id.empty()) return note_missing(*missing);
    if (started.given()) return host(*launch, rest);
    complain("--launch is required");
    return kExitFailed;
  };
}

}  // namespace bulkhead
