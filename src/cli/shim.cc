// bulkhead shim: has a project's own commands run in a compartment whenever they are typed.
#include <fmt/format.h>

#include <cstdlib>

#include "base/path.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/explain.h"
#include "policy/programs.h"
#include "sandbox/limits/outcome.h"
#include "session/shims.h"

namespace bulkhead {
namespace {

constexpr int kSomeRefused = 1;

struct ShimOptions {
  std::vector<std::string> names;
  bool remove = false, list = false, json = false;
};

std::string search_path() {
  const char* const path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

// The folder in the words of a start-up file, which may be another machine's home too.
std::string in_home(const std::string& folder, const Places& places) {
  return is_within(folder, places.home) ? "$HOME" + folder.substr(places.home.size()) : folder;
}

std::string how_to_add(const std::string& folder, const Places& places) {
  const char* const shell = std::getenv("SHELL");
  const std::string_view name = shell != nullptr ? last_of(shell) : std::string_view();
  const std::string text = in_home(folder, places);
  if (name == "fish") return fmt::format("type once: fish_add_path --prepend \"{}\"", text);
  return fmt::format("add to {}: export PATH=\"{}:$PATH\"",
                     name == "zsh" ? "~/.zshrc" : "~/.bashrc", text);
}

// The first of them that has a program of that name; empty: none.
std::string folder_of(const std::string& name, const std::string& path) {
  for (std::string& folder : split_search_path(path))
    if (find_program(name, {folder})) return std::move(folder);
  return "";
}

struct Listed {
  std::string name, runs, before;  // `before`: the folder of PATH that comes first, if it does
};

std::vector<Listed> listed(const std::vector<std::string>& names, const std::string& folder) {
  const std::string path = search_path();
  const std::string without = path_without_shims(path, folder);
  std::vector<Listed> all;
  for (const std::string& name : names) {
    const std::string real = folder_of(name, without), first = folder_of(name, path);
    all.push_back({name, real.empty() ? "" : join(real, name), first == real ? first : ""});
  }
  return all;
}

// What is still to be done before a shim is what a shell starts; empty: nothing.
std::string to_do(const Places& places, const std::string& folder,
                  const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::string path = search_path();
  if (path_without_shims(path, folder) == path)
    return fmt::format("They count once their folder comes first in PATH; {}\n",
                       how_to_add(folder, places));
  std::string text;
  for (const Listed& one : listed(names, folder))
    if (!one.before.empty())
      text += fmt::format(
          "{} is found in {} first, which comes before them in PATH: it runs "
          "without a compartment\n",
          one.name, escape_for_display(one.before));
  return text;
}

Result<bool> list(const Places& places, const Shims& shims, bool as_json) {
  BULKHEAD_TRY(const auto names, shims.list());
  const auto all = listed(names, shims.folder());
  if (as_json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Listed& one : all)
      rows.push_back(
          {{"name", one.name},
           {"runs", one.runs},
           {"before", one.before.empty() ? nlohmann::json() : nlohmann::json(one.before)}});
    return print(to_line({{"folder", shims.folder()}, {"shims", rows}}));
  }
  if (names.empty()) return print("There are no shims. `bulkhead shim npm make` makes some.\n");
  Table table({{"shim"}, {"runs"}});
  for (const Listed& one : all)
    table.add({{one.name}, {one.runs.empty() ? "no program of that name" : one.runs}});
  return print(table.to_string(terminal_width(STDOUT_FILENO), false, false, 0) +
               to_do(places, shims.folder(), names));
}

Result<bool> remove(const Shims& shims, std::vector<std::string> names) {
  if (names.empty()) {
    BULKHEAD_TRY(names, shims.list());
  }
  bool all = true;
  for (const std::string& name : names) {
    if (const Status removed = shims.remove(name); !removed.ok()) {
      complain(removed.error());
      all = false;
    } else if (!print(fmt::format("{} runs without a compartment again.\n", name))) {
      return false;
    }
  }
  return all;
}

Result<bool> add(const Places& places, const Shims& shims, const std::vector<std::string>& names) {
  const auto real = split_search_path(path_without_shims(search_path(), shims.folder()));
  std::vector<std::string> there;
  std::string text;
  for (const std::string& name : names) {
    const auto added = shims.add(name, real);
    if (!added.ok()) {
      complain(added.error());
      continue;
    }
    there.push_back(name);
    text += *added ? fmt::format("{} runs in a compartment from now on.\n", name)
                   : fmt::format("{} has its shim already.\n", name);
  }
  if (!print(text + to_do(places, shims.folder(), there))) return false;
  return there.size() == names.size();
}

int shim(const ShimOptions& options) {
  const auto places = find_places();
  if (!places.ok()) {
    complain(places.error());
    return kExitFailed;
  }
  const Shims shims(shims_folder(*places), places->program);
  const auto done = options.remove                          ? remove(shims, options.names)
                    : options.list || options.names.empty() ? list(*places, shims, options.json)
                                                            : add(*places, shims, options.names);
  if (!done.ok()) {
    complain(done.error());
    return kExitFailed;
  }
  return *done ? 0 : kSomeRefused;
}

}  // namespace

Action add_shim(CommandLine& line) {
  auto options = std::make_shared<ShimOptions>();
  const Option names =
      line.add_option("PROGRAM", options->names, "the commands, such as npm pip cargo make")
          .type_name("PROGRAM")
          .check(not_empty);
  const Option remove = line.add_flag("--remove", options->remove,
                                      "remove these shims; without PROGRAM: all of them");
  line.add_flag("--list", options->list, "which there are, and what each of them runs")
      .excludes(names)
      .excludes(remove);
  line.add_flag("--json", options->json, "the list as JSON").excludes(names).excludes(remove);
  line.footer(
      "A shim is a file in ~/.local/share/bulkhead/shims that runs `bulkhead run -- PROGRAM` with "
      "its arguments, wherever that folder comes first in PATH. A path such as /usr/bin/npm still "
      "names the program itself.\n"
      "Exit code: 0 done, 1 some were refused, 125 bulkhead itself failed.");
  return [options](const std::vector<std::string>&) { return shim(*options); };
}

}  // namespace bulkhead
