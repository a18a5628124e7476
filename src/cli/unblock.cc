// bulkhead unblock: lifts a group of the built-in blocklist for one workspace, and keeps that.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/path.h"
#include "base/spelling.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/explain.h"
#include "policy/homes.h"
#include "policy/lifts.h"
#include "sandbox/limits/outcome.h"
#include "session/session.h"

namespace bulkhead {
namespace {

struct UnblockOptions {
  std::string group, workspace;
  bool undo = false, json = false;
};

Result<std::vector<Blocklist>> blocklists(const Places& places) {
  BULKHEAD_TRY(Shipped shipped, load_shipped(places, LoadSets::kNone));
  return std::move(shipped.blocklists);
}

// The built-in groups that can be lifted for a workspace.
std::vector<BlockGroup> liftable(const std::vector<Blocklist>& known) {
  std::vector<BlockGroup> groups;
  for (const Blocklist& blocklist : known)
    if (blocklist.source == Blocklist::Source::kBuiltin)
      std::copy_if(blocklist.groups.begin(), blocklist.groups.end(), std::back_inserter(groups),
                   [](const BlockGroup& group) { return why_no_lift(group).empty(); });
  return groups;
}

Result<bool> list(const Places& places, const LiftStore& store, bool as_json) {
  BULKHEAD_TRY(const auto lifts, store.load());
  if (as_json) return print(to_line({{"workspaces", lifts}}));
  std::string text;
  for (const auto& [folder, groups] : lifts)
    for (const std::string& group : groups)
      text += fmt::format("{}  {}\n", group, escape_for_display(folder));
  if (text.empty()) text = "Nothing is lifted for a workspace.\n";
  BULKHEAD_TRY(const auto known, blocklists(places));
  Table table({{"group"}, {"reason", false, 20, true}});
  for (const BlockGroup& group : liftable(known)) table.add({{group.name}, {group.reason}});
  return print(text + "\nCan be lifted:\n" +
               table.to_string(terminal_width(STDOUT_FILENO), false, false, 2));
}

Result<BlockGroup> group_of(const Places& places, const std::string& name) {
  BULKHEAD_TRY(const auto known, blocklists(places));
  for (const Blocklist& blocklist : known) {
    for (const BlockGroup& group : blocklist.groups) {
      if (group.name != name || blocklist.source == Blocklist::Source::kTelemetry) continue;
      if (blocklist.source == Blocklist::Source::kBuiltin) return group;
      return Error{fmt::format(
          "{} stands in the user's or the organisation's policy, which this does not lift", name)};
    }
  }
  std::vector<std::string> names;
  for (const BlockGroup& group : liftable(known)) names.push_back(group.name);
  return Error{fmt::format("no built-in block group is called \"{}\"; for a workspace: {}",
                           escape_for_display(name), fmt::join(names, ", "))};
}

// First by the name that the list shows: what is gone, or leads elsewhere now, has no other.
Result<bool> undo(LiftStore& store, const UnblockOptions& options) {
  std::string folder = join("/", options.workspace);
  if (!options.workspace.starts_with('/')) {
    BULKHEAD_TRY(const std::string here, working_folder());
    folder = join(here, options.workspace);
  }
  for (const std::string& name : {folder, canonical_or_same(folder)}) {
    BULKHEAD_TRY(const bool changed, store.restore(name, options.group));
    if (changed)
      return print(
          fmt::format("{} is blocked again in {}, for what is started or opened from now on.\n",
                      options.group, escape_for_display(name)));
  }
  return Error{fmt::format("{} is not lifted for {}: `bulkhead unblock` lists what is",
                           options.group, folder)};
}

Result<bool> unblock(const UnblockOptions& options) {
  BULKHEAD_TRY(Places places, find_places());
  LiftStore store(places.lifts());
  if (options.group.empty()) return list(places, store, options.json);
  if (options.undo) return undo(store, options);
  BULKHEAD_TRY(const std::string here, working_folder());
  std::string folder = here;
  if (!options.workspace.empty()) {
    BULKHEAD_TRY(folder, named_workspace(here, options.workspace));
  }
  BULKHEAD_TRY(const BlockGroup group, group_of(places, options.group));
  if (std::string why_not = why_no_lift(group); !why_not.empty()) return Error{why_not};
  const std::string why_not = why_no_project(folder, homes_with(canonical_or_same(places.home)));
  if (!why_not.empty())
    return Error{fmt::format("{} {}: go to the project's folder, or name one with --workspace",
                             folder, why_not)};
  BULKHEAD_CHECK(store.lift(folder, group.name));
  return print(fmt::format(
      "{} is lifted for {}: what is started or opened there from now on may write what it keeps.\n"
      "  {}\n  to take it back: bulkhead unblock {} --undo{}\n",
      group.name, escape_for_display(folder), group.reason, group.name,
      folder == here ? "" : " --workspace " + shell_word(folder)));
}

}  // namespace

Action add_unblock(CommandLine& line) {
  auto options = std::make_shared<UnblockOptions>();
  const Option group =
      line.add_option("GROUP", options->group, "the group; without one: lists what is lifted")
          .type_name("")
          .check(not_empty);
  line.add_option("--workspace", options->workspace,
                  "the project's folder (default: the working folder)")
      .type_name("FOLDER")
      .needs(group)
      .check(not_empty);
  line.add_flag("--undo", options->undo, "block it there again").needs(group);
  line.add_flag("--json", options->json, "the list as JSON").excludes(group);
  line.footer(
      "Only groups about files of a workspace are lifted so: without GROUP, they are listed. "
      "`bulkhead run --unblock` lifts any for a run. In the editor it holds for windows and "
      "extensions that start afterwards.\n"
      "Exit code: 0 done, 125 bulkhead itself failed.");
  return [options](const std::vector<std::string>&) {
    const auto done = unblock(*options);
    if (!done.ok()) complain(done.error());
    return done.ok() && *done ? 0 : kExitFailed;
  };
}

}  // namespace bulkhead
