// bulkhead host: one extension host of VS Code in a compartment. Started by the editor's server in
// place of Node (vscode/launcher/preload.cjs), not by people.
#include <fcntl.h>
#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cli/terminal.h"
#include "cli/verb.h"
#include "sandbox/outcome.h"
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
  options.keeps_pages = variable("BULKHEAD_PAGES") == "yes";
  options.trace = variable("BULKHEAD_TRACE") == "1";
  const auto code = run_extension_host(std::move(options));
  return code.ok() ? *code : fail(mark, code.error());
}

}  // namespace

Action add_host(CLI::App& app) {
  auto launch = std::make_shared<std::string>();
  app.add_option("--launch", *launch, "what `bulkhead code` prepared")
      ->type_name("FILE")
      ->required();
  return [launch](const std::vector<std::string>& rest) { return host(*launch, rest); };
}

}  // namespace bulkhead
