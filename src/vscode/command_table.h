// CommandTable: the editor's commands, each by its own name, with what it takes to run one and what
// its arguments are; and the contexts that the editor's conditions read. Read from
// vscode/api/commands.json, which a test compares with what each command of the installed version
// reaches.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/nlohmann.h"
#include "base/result.h"

namespace bulkhead {

// What a command does with an argument, or with a member of one.
enum class CommandUse : uint8_t {
  kRead,     // a resource, also where it is a text, is read
  kWrite,    // the same, written
  kRefused,  // must not be there
};

struct CommandArgument {
  CommandUse use = CommandUse::kRefused;
  std::optional<size_t> place;  // none: every argument, and what is in it
  std::vector<std::string> members;
};

class CommandTable {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr std::string_view kForeign = "commands-foreign";

  CommandTable() = default;  // knows no command: all are asked about
  static Result<CommandTable> parse(const Json& json);

  // Commands of which the served version does something else than was read: they are asked about.
  void leave_unread(const std::vector<std::string>& commands);
  // Contexts of the editor's own; "*" in one stands for anything.
  void set_contexts(const std::vector<std::string>& contexts);

  bool has(const std::string& command) const { return needs_.contains(command); }
  // A permission, "free" or "refuse".
  std::string needs(const std::string& command) const;
  // Empty where none of them is more than plain: what is a resource by its form is read wherever it
  // stands, and what names a command must be one that may be run.
  const std::vector<CommandArgument>& arguments(const std::string& command) const;
  // Whether texts among its arguments are resources.
  bool reads_texts(const std::string& command) const;
  bool has_context(const std::string& key) const;

 private:
  std::map<std::string, std::string> needs_;
  std::vector<std::string> refused_;  // beginnings of names that no host runs
  std::map<std::string, std::vector<CommandArgument>> arguments_;
  std::set<std::string> contexts_;
  std::vector<std::string> context_patterns_;
};

}  // namespace bulkhead
