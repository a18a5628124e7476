// The compiler of policies: private to compile.cc (what is compiled, in which order) and
// compile_entries.cc (how one entry becomes rules).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "policy/links.h"
#include "policy/pattern.h"
#include "policy/policy_data.h"

namespace bulkhead {

constexpr uint16_t bit(Kind kind) {
  return static_cast<uint16_t>(1U << static_cast<unsigned>(kind));
}

constexpr uint16_t kReadKinds = bit(Kind::kRead) | bit(Kind::kReadStatus);
constexpr uint16_t kWriteKinds = bit(Kind::kWrite) | bit(Kind::kWriteStatus);
constexpr uint16_t kNetworkKinds = bit(Kind::kConnect) | bit(Kind::kLookup);

// One list of a manifest or a blocklist: where its entries come from and what they mean.
struct List {
  Rule::Source source = Rule::Source::kManifest;
  Verdict verdict = Verdict::kAllow;
  uint16_t kinds = 0;
  std::vector<Channel> channels = {};
  std::string group = {};
  std::string reason = {};
  bool follow = false;         // links on the way are followed as well (see add_path)
  bool needs_variable = true;  // an empty variable is an error, not a note
};

class Compiler {
 public:
  explicit Compiler(const PolicyInputs& inputs)
      : inputs_(inputs), data_(std::make_unique<PolicyData>()) {}

  Result<std::unique_ptr<PolicyData>> run() &&;

 private:
  // Rules are numbered in the order in which a reader would look for the reason: blocks first.
  void check_inputs();
  void add_fixed_rules();
  // Those that hold: not the lifted ones. With a list that is made up but for kinds and channels.
  void each_block_group(const std::function<void(const BlockGroup&, List)>& add) const;
  void add_blocklists();
  void add_telemetry();
  void add_own_blocks(const Manifest& manifest, Rule::Source source);
  void add_grants(const Manifest& manifest, Rule::Source source);
  void add_extras(Verdict verdict, Rule::Source source);
  void add_blocks_of_other_homes();
  void add_scratch();
  void settle_limits();
  void check_name_blocks();
  void finish();

  void add_paths(const std::vector<Entry>& entries, const List& list);
  void add_path(const Entry& entry, const List& list);
  // The usual entry, a path without wildcards or escapes, added without taking it apart; false,
  // with nothing done, where it is anything else.
  bool add_plain_path(const Entry& entry, const List& list);
  // The value of a variable whose files are a person's or a project's settings, where what their
  // links lead to is obeyed as well.
  bool holds_settings(const std::string* value) const;
  // "/a/.": the folder without what is in it.
  void add_folder_itself(const Entry& entry, const List& list);
  void add_set(const Entry& entry, const List& list);
  // A set's names of files, in the folders above the workspaces.
  void add_names(const Entry& entry, const List& list, const std::vector<Entry>& names);
  // As if ${home} were `home`, which may have wildcards; nothing is done for entries that do not
  // start with a variable that depends on whose home it is.
  void add_path_of_home(const Entry& entry, const List& list, const PathPattern& home);
  void add_pattern(const Entry& entry, const List& list, const PathPattern& pattern);
  // Of a block of "**/…": what links of that name at the top of a workspace lead to.
  void add_named_links(const Entry& entry, const List& list, const PathPattern& pattern);
  void add_target_of(const Entry& entry, const List& list, const std::string& link);
  // For writing, what the links directly in a blocked folder lead to.
  void add_targets_in(const Entry& entry, const List& list, const std::string& folder);
  // `passed`, from the link on: the links on the way to `real`.
  void add_linked(const Entry& entry, const List& list, const std::string& link,
                  const std::string& real, const std::vector<std::string>& passed);
  // The links on the way to what is blocked: another one in the place of one would be as good.
  void add_way(const Entry& entry, const List& list, const std::string& path,
               const std::vector<std::string>& passed);
  void add_networks(const std::vector<Entry>& entries, const List& list);
  void add_listen(const std::vector<Entry>& entries, const List& list);
  void add_programs(const std::vector<Entry>& entries, const List& list);
  void add_readable_programs(const Entry& entry, const List& list);
  // `has_rule`: a rule for the file itself stands already.
  void add_program_file(const Entry& entry, const List& list, const std::string& file,
                        bool has_rule);
  void add_environment(const std::vector<Entry>& entries, const List& list);
  void add_vscode(const std::vector<Entry>& entries, const List& list);

  // The entry's variable has no value here.
  void miss_variable(const Entry& entry, const List& list, const std::string& variable);
  RuleId new_rule(const Entry& entry, const List& list, uint16_t kinds, std::string resolved);
  void complain(const Entry& entry, std::string message, std::string fix);
  void complain(const Entry& entry, const Error& error);
  void complain(std::string message, std::string fix);
  void note(const Entry& entry, std::string message, std::string fix);

  struct NetworkUse {
    NetworkPattern pattern;
    RuleId rule;
  };

  const PolicyInputs& inputs_;
  std::unique_ptr<PolicyData> data_;
  json::Findings findings_;
  LinkFollower links_;
  std::string buffer_;                        // add_plain_path's
  std::vector<std::string> concrete_grants_;  // of reading, writing or running
  std::vector<PathPattern> wildcard_grants_;
  std::vector<NetworkUse> wide_grants_, name_blocks_;
  std::set<std::string> runnable_files_, runnable_trees_, hidden_;
};

std::string quote(std::string_view text);

}  // namespace bulkhead
