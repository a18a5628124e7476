// NamesAbove: the files that are read by their names alone, in the folders above a workspace. Tools
// look there for their settings, up to the home folder (@tool-settings).
//
// A name tells nothing of what a file holds: who reads it by this must see that it is a regular
// file of the user's with no other name (Rule::own_file).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/access.h"
#include "policy/path_index.h"
#include "policy/policy.h"

namespace bulkhead {

class NamesAbove {
 public:
  // Of folders that are canonical; `closed`: further ones, in which no name is read either.
  void set_folders(std::vector<std::string> folders, std::vector<std::string> closed) {
    folders_ = std::move(folders);
    closed_ = std::move(closed);
  }
  // `name`: one component of a PathPattern. `listing`: the rule by which the folders themselves are
  // refused.
  void add(std::string name, RuleId rule, RuleId listing);

  // Reading `path` where nothing else grants it: allowed by its name; refused where it is one of
  // the folders, whose other names are nobody's business; kNoRule where this says nothing. The
  // rules' own verdicts tell which.
  RuleId find(std::string_view path) const noexcept;
  // One of the folders is `path`, or lies below it.
  bool lies_below(std::string_view path) const noexcept;

 private:
  struct Name {
    std::string glob;
    RuleId rule;
  };
  std::vector<std::string> folders_, closed_;
  std::vector<Name> names_;
  RuleId listing_ = kNoRule;
};

// The folders above each workspace: in the home folder up to and with that; elsewhere as long as
// they are this user's and others may not write them. Never "/".
std::vector<std::string> folders_above(const Variables& variables);
// Every folder above a workspace, to "/". Tools look for their settings up to there.
std::vector<std::string> ancestors(const Variables& variables);

}  // namespace bulkhead
