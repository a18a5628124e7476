#include "policy/lifts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/json.h"
#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/config.h"
#include "policy/user_file.h"

namespace bulkhead {
namespace {

using Lifts = std::map<std::string, LiftStore::Groups>;

Result<Lifts> parse(const std::string& file, const std::string& bytes) {
  BULKHEAD_TRY(const json::Document document, json::parse(file, bytes));
  json::Findings findings;
  const auto complain = [&](const json::Value& at, std::string message, std::string fix) {
    findings.add(json::finding(file, at, std::move(message), std::move(fix)));
  };
  const json::Value& root = document.root();
  const json::Value* version = root.find("lifts");
  const json::Value* workspaces = root.find("workspaces");
  Lifts lifts;
  if (version == nullptr || version->type != json::Type::kInteger || version->integer != 1) {
    complain(root, "is no list of lifted groups of version 1",
             "move the file away to start anew, or update bulkhead");
  } else if (workspaces == nullptr || workspaces->type != json::Type::kObject) {
    complain(root, "\"workspaces\" is missing or no object", "add \"workspaces\": {}");
  } else {
    for (const json::Value* groups : workspaces->items) {
      const std::string folder(groups->key);
      if (!is_canonical(folder) || folder == "/")
        complain(*groups, fmt::format("\"{}\" is no canonical folder", escape_for_display(folder)),
                 "write an absolute path without links, \".\" or \"..\"");
      if (groups->type != json::Type::kArray) {
        complain(*groups, "must be a list of groups", "write [\"GROUP\"]");
        continue;
      }
      for (const json::Value* group : groups->items) {
        if (group->type == json::Type::kString)
          lifts[folder].insert(std::string(group->text));
        else
          complain(*group, "must be the name of a group", "write it in double quotes");
      }
    }
  }
  if (!findings.empty())
    return std::move(findings).error(
        fmt::format("{} is no valid list of lifted groups; correct it, or move it away", file));
  return lifts;
}

Result<std::string> print(const Lifts& lifts) {
  // nlohmann throws on invalid UTF-8, and only then.
  try {
    nlohmann::ordered_json workspaces = nlohmann::ordered_json::object();
    for (const auto& [folder, groups] : lifts) workspaces[folder] = groups;
    return nlohmann::ordered_json({{"lifts", 1}, {"workspaces", workspaces}}).dump(2) + "\n";
  } catch (const nlohmann::json::exception&) {
    return Error{"cannot remember this folder: its name is no valid UTF-8", EILSEQ};
  }
}

}  // namespace

bool is_of_workspace(std::string_view entry) {
  return entry.starts_with("**/") || entry.starts_with("${workspace}/");
}

std::string why_no_lift(const BlockGroup& group) {
  const bool only_files = group.block.empty() && group.network.empty() && group.run.empty() &&
                          group.environment.empty() && group.vscode.empty();
  if (only_files && std::all_of(group.block_write.begin(), group.block_write.end(),
                                [](const Entry& entry) { return is_of_workspace(entry.text); }))
    return {};
  return fmt::format(
      "{} keeps more than files of a workspace, so that it is lifted for single runs only: "
      "bulkhead run --unblock {}",
      group.name, group.name);
}

std::vector<std::string> liftable_groups(std::span<const Blocklist> blocklists) {
  std::vector<std::string> names;
  for (const Blocklist& blocklist : blocklists)
    if (blocklist.source == Blocklist::Source::kBuiltin)
      for (const BlockGroup& group : blocklist.groups)
        if (why_no_lift(group).empty()) names.push_back(group.name);
  return names;
}

Result<Lifts> LiftStore::load() const {
  BULKHEAD_TRY(const std::optional<std::string> bytes, read_users_own(file_));
  if (!bytes) return Lifts();
  return parse(file_, *bytes);
}

Result<std::vector<std::string>> LiftStore::lifted_in(std::span<const std::string> workspace,
                                                      std::span<const Blocklist> blocklists) const {
  std::vector<std::string> result;
  if (workspace.empty()) return result;
  BULKHEAD_TRY(const Lifts lifts, load());
  for (const Blocklist& list : blocklists) {
    if (list.source != Blocklist::Source::kBuiltin) continue;
    for (const BlockGroup& group : list.groups) {
      const auto is_lifted_in = [&](const std::string& folder) {
        return std::any_of(lifts.begin(), lifts.end(), [&](const auto& lift) {
          return lift.second.contains(group.name) && is_within(folder, lift.first);
        });
      };
      if (!std::all_of(workspace.begin(), workspace.end(), is_lifted_in)) continue;
      if (std::string why_not = why_no_lift(group); !why_not.empty())
        return Error{fmt::format("{}: {}; remove it there", file_, why_not), EINVAL};
      result.push_back(group.name);
    }
  }
  return result;
}

Result<bool> LiftStore::lift(const std::string& folder, const std::string& group) {
  return change(folder, group, true);
}

Result<bool> LiftStore::restore(const std::string& folder, const std::string& group) {
  return change(folder, group, false);
}

Result<bool> LiftStore::change(const std::string& folder, const std::string& group, bool lifted) {
  BULKHEAD_TRY(const Fd lock, lock_beside(file_));
  BULKHEAD_TRY(Lifts lifts, load());
  Groups& groups = lifts[folder];
  if (lifted ? !groups.insert(group).second : groups.erase(group) == 0) return false;
  if (groups.empty()) lifts.erase(folder);
  BULKHEAD_TRY(const std::string text, print(lifts));
  BULKHEAD_CHECK(write_file_atomically(file_, text, 0600));
  return true;
}

}  // namespace bulkhead
