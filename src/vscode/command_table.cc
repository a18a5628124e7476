#include "vscode/command_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "policy/vscode_permissions.h"
#include "vscode/json_string.h"

namespace bulkhead {
namespace {

using Json = CommandTable::Json;

bool is_rule(const std::string& needs) {
  return needs == "free" || needs == "refuse" || is_vscode_permission(needs);
}

// "* read", "0 read", "0.output write"
Result<CommandArgument> parse_argument(const std::string& text) {
  const auto fail = [&] {
    return Error{
        fmt::format("\"{}\" is no rule for an argument, such as \"0.output write\"", text)};
  };
  const size_t space = text.find(' ');
  if (space == std::string::npos) return fail();
  CommandArgument argument;
  const std::string use = text.substr(space + 1);
  if (use == "read")
    argument.use = CommandUse::kRead;
  else if (use == "write")
    argument.use = CommandUse::kWrite;
  else if (use == "refused")
    argument.use = CommandUse::kRefused;
  else
    return fail();
  std::string_view place = std::string_view(text).substr(0, space);
  if (place == "*") return argument;
  const size_t dot = std::min(place.find('.'), place.size());
  size_t number = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + dot, number);
  if (error != std::errc() || end != place.data() + dot) return fail();
  argument.place = number;
  for (place.remove_prefix(dot); !place.empty();) {
    place.remove_prefix(1);
    const size_t next = std::min(place.find('.'), place.size());
    if (next == 0) return fail();
    argument.members.emplace_back(place.substr(0, next));
    place.remove_prefix(next);
  }
  return argument;
}

// One "*" for anything, any number of times.
bool fits(std::string_view text, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  if (pattern.empty()) return true;
  for (size_t from = 0; from <= text.size(); ++from)
    if (fits(text.substr(from), pattern)) return true;
  return false;
}

}  // namespace

Result<CommandTable> CommandTable::parse(const Json& json) {
  CommandTable table;
  const auto list = [&](const char* name) { return json.value(name, Json()); };
  const Json commands = list("commands"), refused = list("refused"), arguments = list("arguments");
  if (!commands.is_object() || !refused.is_array() || !arguments.is_object())
    return Error{R"(no table of commands: "commands", "refused" and "arguments" are needed)"};
  for (const auto& [needs, names] : commands.items()) {
    if (!is_rule(needs)) return Error{fmt::format("\"{}\" is no permission", needs)};
    if (!names.is_array()) return Error{fmt::format("\"{}\" holds no list of commands", needs)};
    for (const Json& name : names)
      if (!name.is_string() || name.get_ref<const std::string&>().find('*') != std::string::npos ||
          !table.needs_.emplace(name.get<std::string>(), needs).second)
        return Error{
            fmt::format("{} is no command's name, or stands there twice", json_string(name))};
  }
  for (const Json& each : refused) {
    if (!each.is_string() || !each.get_ref<const std::string&>().ends_with('*'))
      return Error{
          fmt::format("{} is no beginning of names, such as \"list.*\"", json_string(each))};
    const std::string beginning = each.get<std::string>();
    table.refused_.push_back(beginning.substr(0, beginning.size() - 1));
  }
  for (const auto& [command, rules] : arguments.items()) {
    if (!rules.is_array() || rules.empty() || !table.has(command))
      return Error{fmt::format("\"{}\" has rules for arguments, and no other", command)};
    for (const Json& each : rules) {
      BULKHEAD_TRY(auto rule, parse_argument(each.is_string() ? each.get<std::string>() : ""));
      table.arguments_[command].push_back(std::move(rule));
    }
  }
  return table;
}

void CommandTable::leave_unread(const std::vector<std::string>& commands) {
  for (const std::string& each : commands)
    if (const auto known = needs_.find(each); known != needs_.end() && known->second != "refuse")
      known->second = kForeign;
}

void CommandTable::set_contexts(const std::vector<std::string>& contexts) {
  for (const std::string& each : contexts)
    if (each.find('*') == std::string::npos)
      contexts_.insert(each);
    else
      context_patterns_.push_back(each);
}

std::string CommandTable::needs(const std::string& command) const {
  if (const auto known = needs_.find(command); known != needs_.end()) return known->second;
  // To refuse, a beginning is enough.
  const bool refused = std::any_of(refused_.begin(), refused_.end(), [&](const std::string& each) {
    return command.starts_with(each);
  });
  return std::string(refused ? "refuse" : kForeign);
}

const std::vector<CommandArgument>& CommandTable::arguments(const std::string& command) const {
  static const std::vector<CommandArgument> kNone;
  const auto known = arguments_.find(command);
  return known == arguments_.end() ? kNone : known->second;
}

bool CommandTable::reads_texts(const std::string& command) const {
  const auto& rules = arguments(command);
  return std::any_of(rules.begin(), rules.end(), [](const CommandArgument& each) {
    return each.use == CommandUse::kRead && !each.place;
  });
}

bool CommandTable::has_context(const std::string& key) const {
  return contexts_.contains(key) ||
         std::any_of(context_patterns_.begin(), context_patterns_.end(),
                     [&](const std::string& pattern) { return fits(key, pattern); });
}

}  // namespace bulkhead
