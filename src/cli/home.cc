// bulkhead home: the homes that programs have for themselves, how much is in them, and their end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/path.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/config.h"
#include "sandbox/home/home_store.h"
#include "sandbox/limits/outcome.h"
#include "session/session.h"

namespace bulkhead {
namespace {

struct HomeOptions {
  std::string owner;
  bool clear = false, clear_all = false, json = false;
};

std::string size_text(const std::optional<ContentSize>& size) {
  if (!size) return "?";
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(size->bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", size->bytes)
                   : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string day_text(time_t when) {
  struct tm local = {};
  std::array<char, 32> text = {};
  if (localtime_r(&when, &local) == nullptr) return "?";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &local)};
}

bool list(const std::vector<KeptHome>& homes, bool as_json) {
  if (as_json) {
    nlohmann::json all = nlohmann::json::array();
    for (const KeptHome& home : homes)
      all.push_back({{"owner", home.subject},
                     {"folder", home.store},
                     {"bytes", home.size ? nlohmann::json(home.size->bytes) : nlohmann::json()},
                     {"files", home.size ? nlohmann::json(home.size->files) : nlohmann::json()},
                     {"used", home.used}});
    return print(to_line({{"homes", std::move(all)}}));
  }
  if (homes.empty())
    return print(
        "No program has a home of its own yet: `bulkhead run` makes one for each project.\n");
  Table table({{"size", true}, {"used"}, {"whose", false, 20}});
  for (const KeptHome& home : homes)
    table.add({{size_text(home.size)}, {day_text(home.used)}, {home.subject}});
  return print(table.to_string(terminal_width(STDOUT_FILENO), false, true, 0));
}

// Whom a person means by a folder's path, as typed or where it leads; or by an extension's id.
Result<std::vector<KeptHome>> named(const std::vector<KeptHome>& homes, const std::string& owner) {
  BULKHEAD_TRY(const std::string here, working_folder());
  const std::string path = join(here, owner.empty() ? "." : owner);
  for (const std::string& name : {owner, canonical_or_same(path)})
    for (const KeptHome& home : homes)
      if (home.subject == name) return std::vector{home};
  return Error{fmt::format("{} has no home of its own: `bulkhead home` lists those that are there",
                           owner.empty() ? here : owner),
               ENOENT};
}

Result<bool> clear(const std::vector<KeptHome>& homes) {
  std::string text;
  for (const KeptHome& home : homes) {
    BULKHEAD_CHECK(clear_home(home));
    text += fmt::format("The home of {} is empty now ({}).\n", escape_for_display(home.subject),
                        size_text(home.size));
  }
  return print(text);
}

Result<bool> home(const HomeOptions& options) {
  BULKHEAD_TRY(const Places places, find_places());
  std::vector<KeptHome> homes = kept_homes(canonical_or_same(places.state));
  if (options.clear_all) return clear(homes);
  if (!options.clear && options.owner.empty()) return list(homes, options.json);
  BULKHEAD_TRY(homes, named(homes, options.owner));
  return options.clear ? clear(homes) : Result<bool>(list(homes, options.json));
}

}  // namespace

Action add_home(CommandLine& line) {
  auto options = std::make_shared<HomeOptions>();
  line.add_option("OWNER", options->owner,
                  "a project's folder or an extension's id (with --clear by default the working "
                  "folder; else all are listed)")
      .type_name("")
      .check(not_empty);
  const Option one = line.add_flag("--clear", options->clear, "remove what is in it");
  line.add_flag("--clear-all", options->clear_all, "remove what is in all of them").excludes(one);
  line.add_flag("--json", options->json, "the list as JSON");
  line.footer(
      "Without a manifest, what `bulkhead run` starts has a home folder that belongs to the "
      "project: "
      "caches of npm, go, pip and the like last there from run to run, and no other project sees "
      "them. --home SIZE of `bulkhead run` says how large it may grow.\n"
      "Exit code: 0 done, 125 bulkhead itself failed.");
  return [options](const std::vector<std::string>&) {
    const auto done = home(*options);
    if (!done.ok()) complain(done.error());
    return done.ok() && *done ? 0 : kExitFailed;
  };
}

}  // namespace bulkhead
