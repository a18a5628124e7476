// Lifts: groups of the built-in blocklist that a person lifted for one workspace, for `run` and the
// editor alike, in ~/.config/bulkhead/lifts.json:
//
//   {
//     "lifts": 1,
//     "workspaces": { "/home/me/project": ["ci-pipelines"] }
//   }
//
// Only groups about files of a workspace can be lifted so. One that keeps what lies elsewhere is
// lifted for a run, by --unblock.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/manifest.h"

namespace bulkhead {

// Whether an entry of a blocklist names files of a workspace alone.
bool is_of_workspace(std::string_view entry);

// Empty, or why the group cannot be lifted for a workspace.
std::string why_no_lift(const BlockGroup& group);

// The names of the built-in groups that can be lifted for a workspace.
std::vector<std::string> liftable_groups(std::span<const Blocklist> blocklists);

class LiftStore {
 public:
  using Groups = std::set<std::string>;

  explicit LiftStore(std::string file) : file_(std::move(file)) {}

  // By folder, canonical. No file: none. A broken one, or one that somebody else can write, is an
  // error.
  Result<std::map<std::string, Groups>> load() const;

  // The groups that are lifted where these folders are the workspace: for each of them, itself or a
  // folder that it lies in. A policy holds for all of its folders, so one without a lift keeps the
  // group. An error where a group of `blocklists` is named that cannot be lifted so.
  Result<std::vector<std::string>> lifted_in(std::span<const std::string> workspace,
                                             std::span<const Blocklist> blocklists) const;

  // False where nothing was to change. `folder` canonical.
  Result<bool> lift(const std::string& folder, const std::string& group);
  Result<bool> restore(const std::string& folder, const std::string& group);

 private:
  Result<bool> change(const std::string& folder, const std::string& group, bool lifted);

  std::string file_;
};

}  // namespace bulkhead
