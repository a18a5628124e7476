// What a compiled policy holds. Private to compile.cc and policy.cc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/names_above.h"
#include "policy/network_index.h"
#include "policy/path_index.h"
#include "policy/policy.h"
#include "policy/port_rule.h"

namespace bulkhead {

// Exact names and "PREFIX_*" entries, for grants and blocks alike.
class NameIndex {
 public:
  void add(const std::string& name, RuleId rule) { lower(&exact_[name], rule); }
  void add_prefix(std::string prefix, RuleId rule) {
    prefixes_.emplace_back(std::move(prefix), rule);
  }
  RuleId find(std::string_view name) const noexcept;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Slot {
    RuleId rule = kNoRule;
  };
  static void lower(Slot* slot, RuleId rule) { slot->rule = rule < slot->rule ? rule : slot->rule; }

  std::unordered_map<std::string, Slot, Hash, std::equal_to<>> exact_;
  std::vector<std::pair<std::string, RuleId>> prefixes_;
};

struct PortRule {
  PortRange ports;
  RuleId rule = kNoRule;
};

struct PolicyData {
  std::vector<Rule> rules;
  PathIndex paths;
  NetworkIndex network_grants{NetworkIndex::Purpose::kGrant};
  NetworkIndex network_blocks{NetworkIndex::Purpose::kBlock};
  NetworkIndex telemetry{NetworkIndex::Purpose::kBlock};
  std::vector<PortRule> listen_grants, listen_blocks;  // lowest rule first
  NameIndex environment_grants, environment_blocks;
  NameIndex vscode_grants, vscode_blocks;
  Limits limits;
  Otherwise otherwise = Otherwise::kDeny;
  NamesAbove names_above;
  RuleId programs = kNoRule;  // what may be read may run, by this rule
  std::vector<WholeTree> whole_trees;
  std::vector<std::string> hidden, runnable_files, runnable_trees;
  std::string subject;
  std::string private_home;
  std::vector<std::string> workspace;
  std::vector<Diagnostic> notes;
};

// The work of Policy::compile().
Result<std::unique_ptr<PolicyData>> compile_policy(const PolicyInputs& inputs);

}  // namespace bulkhead
