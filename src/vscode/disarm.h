// Disarm: takes out of what a host shows the things that act outside of its compartment when a
// person only clicks or looks: links, pages and buttons that run commands, pictures that are
// fetched, snippets that carry the clipboard. What stays is the text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nlohmann.h"

namespace bulkhead {

struct DisarmRules {
  std::function<bool(const std::string& command)> may_run;  // without asking, whatever it is given
  // The same with these arguments; not set: as may_run.
  std::function<bool(const std::string& command, const nlohmann::ordered_json& arguments)>
      may_run_with = {};
  std::function<std::vector<std::string>()> own_commands = {};  // for who may run "all"
  bool may_fetch = false;                                       // pictures from other hosts
  bool may_paste = false;                                       // $CLIPBOARD in snippets
};

class Disarm {
 public:
  using Json = nlohmann::ordered_json;
  explicit Disarm(DisarmRules rules) : rules_(std::move(rules)) {}

  // False where the text holds nothing to take out: most do not.
  static bool concerns(std::string_view json) noexcept;

  enum class Strings : uint8_t {
    kText,      // shown or written as they are
    kMessages,  // shown with links in them: notifications, progress, what is wrong with an input
    kPicks,     // the same, and links in Markdown run whatever they name: lists to pick from
    kSnippets,  // inserted with their variables filled in
    kItems,     // the same, and "o" of a completion, "command" of a notebook's cell are command ids
  };
  // Returns how many things were taken out.
  size_t disarm(Json& value, Strings strings) const;
  // The same for a command that stands by itself, whole or as its id.
  size_t disarm_command(Json& value) const;

 private:
  size_t walk(Json& value, Strings strings, int depth) const;
  size_t markdown(Json& object, Strings strings) const;
  size_t message_links(std::string& text) const;
  // Without the right to run one, only its id goes: what shows it stays.
  size_t command(Json& object) const;
  size_t command_links(Json& enabled) const;
  bool may_run(const std::string& command, const Json& arguments) const;

  DisarmRules rules_;
};

// Fields of VS Code's messages that hold a command, or a list of such.
bool holds_command(std::string_view key);

// Whether a page that shows this picture asks a server for it: an address or VS Code's URI.
bool is_fetched(const nlohmann::ordered_json& picture);

}  // namespace bulkhead
