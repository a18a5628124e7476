#include "vscode/disarm.h"

#include <optional>
#include <set>

#include "policy/extension_id.h"
#include "vscode/json_text.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 200;  // as is_moderate() has it

// Fields of VS Code's messages that are pictures: fetched by the page as soon as they are shown.
bool is_picture(const std::string& key) {
  static const std::set<std::string> kKeys = {"icon",  "iconPath",       "iconPathDark",    "dark",
                                              "light", "gutterIconPath", "contentIconPath", "logo",
                                              "image"};
  return kKeys.contains(key);
}

// Fields that hold a command, or a list of such.
bool is_command(const std::string& key) {
  for (const char* end : {"command", "Command", "commands", "Commands"})
    if (key.ends_with(end)) return true;
  return key == "gutterMenuLinkAction";
}

// The command of "command:ID?ARGUMENTS", a text or taken apart; escapes in it stay,
// and are no command's.
std::optional<std::string> linked_command(const Json& link, bool is_link) {
  constexpr std::string_view kScheme = "command:";
  if (link.is_string()) {
    const std::string& text = link.get_ref<const std::string&>();
    if (!is_link || lower_case(text.substr(0, kScheme.size())) != kScheme) return std::nullopt;
    return text.substr(kScheme.size(), text.find_first_of("?#") - kScheme.size());
  }
  if (!link.is_object()) return std::nullopt;
  const auto scheme = link.find("scheme");
  if (scheme == link.end() || !scheme->is_string() ||
      lower_case(scheme->get_ref<const std::string&>()) != "command")
    return std::nullopt;
  const auto path = link.find("path");
  return path != link.end() && path->is_string() ? path->get<std::string>() : std::string();
}

size_t replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
    ++count;
  }
  return count;
}

bool is_web_address(const Json& value) {
  const auto is_web = [](const std::string& text) {
    return text.starts_with("http:") || text.starts_with("https:") || text == "http" ||
           text == "https" || text.starts_with("//");
  };
  if (value.is_string()) return is_web(value.get<std::string>());
  if (!value.is_object()) return false;
  const auto scheme = value.find("scheme");
  return scheme != value.end() && scheme->is_string() && is_web(scheme->get<std::string>());
}

}  // namespace

bool Disarm::concerns(std::string_view json) noexcept {
  // "\u" may hide any of these.
  for (const char* word :
       {"command", "Command", "LinkAction", "isTrusted", "CLIPBOARD", "http", "\\u00"})
    if (holds(json, word)) return true;
  return false;
}

size_t Disarm::disarm(Json& value, Strings strings) const { return walk(value, strings, 0); }

// {value, isTrusted, supportHtml, …}: a MarkdownString as it travels.
size_t Disarm::markdown(Json& object) const {
  size_t changed = 0;
  if (const auto trusted = object.find("isTrusted");
      trusted != object.end() && !trusted->is_null() && *trusted != false) {
    // Links run the commands that are named here and no others.
    Json enabled = Json::array();
    if (trusted->is_object() && trusted->contains("enabledCommands") &&
        (*trusted)["enabledCommands"].is_array()) {
      for (const Json& each : (*trusted)["enabledCommands"])
        if (each.is_string() && rules_.may_run(each.get<std::string>())) enabled.push_back(each);
    } else if (const auto text = object.find("value"); text != object.end() && text->is_string()) {
      const std::string& markdown = text->get_ref<const std::string&>();
      std::set<std::string> named;
      for (size_t at = 0; (at = markdown.find("command:", at)) != std::string::npos;) {
        at += 8;
        const size_t end = markdown.find_first_of("?)\"' >\n\t#&", at);
        std::string id =
            markdown.substr(at, end == std::string::npos ? std::string::npos : end - at);
        if (named.insert(id).second && rules_.may_run(id)) enabled.push_back(std::move(id));
      }
    }
    const Json allowed = {{"enabledCommands", enabled}};
    if (*trusted != allowed) {
      *trusted = allowed;
      ++changed;
    }
  }
  if (rules_.may_fetch) return changed;
  if (const auto text = object.find("value"); text != object.end() && text->is_string()) {
    std::string& shown = text->get_ref<std::string&>();
    if (shown.find("http") == std::string::npos && shown.find("//") == std::string::npos)
      return changed;
    changed += replace_all(shown, "![", "[");
    for (const char* tag : {"<img", "<IMG", "<Img", "<video", "<source", "<picture"})
      changed += replace_all(shown, tag, "<br");
  }
  return changed;
}

// {id, title, arguments}: what a button, a lens or an action runs when it is clicked.
size_t Disarm::command(Json& object) const {
  size_t changed = 0;
  if (object.is_array())
    for (Json& each : object) changed += command(each);
  if (!object.is_object()) return changed;
  const auto id = object.find("id");
  if (id == object.end() || !id->is_string() || rules_.may_run(id->get<std::string>())) return 0;
  *id = "bulkhead.refused";
  object["arguments"] = Json::array();
  return 1;
}

size_t Disarm::disarm_command(Json& value) const {
  if (!value.is_string()) return command(value);
  if (rules_.may_run(value.get<std::string>())) return 0;
  value = nullptr;
  return 1;
}

// enableCommandUris of a webview: true, or a list. A page clicks its links itself.
size_t Disarm::command_links(Json& enabled) const {
  Json allowed = Json::array();
  if (enabled.is_array()) {
    for (const Json& each : enabled)
      if (each.is_string() && rules_.may_run(each.get<std::string>())) allowed.push_back(each);
  } else if (enabled == true && rules_.own_commands) {
    for (std::string& command : rules_.own_commands()) allowed.push_back(std::move(command));
  } else if (enabled == false || enabled.is_null()) {
    return 0;
  }
  if (enabled == allowed) return 0;
  enabled = std::move(allowed);
  return 1;
}

size_t Disarm::walk(Json& value, Strings strings, int depth) const {
  if (depth > kMaxDepth) return 0;
  size_t changed = 0;
  if (value.is_string()) {
    std::string& text = value.get_ref<std::string&>();
    if (strings == Strings::kMessages) {
      changed += replace_all(text, "](command:", "](#command:");
      changed += replace_all(text, "href=\"command:", "href=\"#command:");
    }
    if ((strings == Strings::kSnippets || strings == Strings::kItems) && !rules_.may_paste) {
      changed += replace_all(text, "$CLIPBOARD", "$WITHHELD");
      changed += replace_all(text, "${CLIPBOARD", "${WITHHELD");
    }
    return changed;
  }
  if (value.is_object()) {
    const bool shows_markdown =
        value.contains("value") && (value.contains("isTrusted") || value.contains("supportHtml") ||
                                    value.contains("supportThemeIcons") || value.contains("uris"));
    const auto flag = value.find("insertAsSnippet");
    const bool is_snippet = flag != value.end() && *flag == true;
    if (shows_markdown) changed += markdown(value);
    for (auto member = value.begin(); member != value.end();) {
      const std::string& key = member.key();
      if (is_command(key)) changed += command(member.value());
      const bool by_id =
          strings == Strings::kItems && (key == "o" || (key == "command" && member->is_string()));
      const auto linked = linked_command(*member, key == "url");
      if ((linked && !rules_.may_run(*linked)) ||
          (by_id && !(member->is_string() && rules_.may_run(member->get<std::string>())))) {
        member = value.erase(member);
        ++changed;
        continue;
      }
      if (key == "enableCommandUris") changed += command_links(member.value());
      if (!rules_.may_fetch && is_picture(key) && is_web_address(member.value())) {
        member = value.erase(member);
        ++changed;
        continue;
      }
      const bool inserted = strings != Strings::kItems && (key == "snippet" || is_snippet);
      changed += walk(member.value(), inserted ? Strings::kSnippets : strings, depth + 1);
      ++member;
    }
  } else if (value.is_array()) {
    for (Json& child : value) {
      if (const auto linked = linked_command(child, false); linked && !rules_.may_run(*linked)) {
        child = nullptr;
        ++changed;
      }
      changed += walk(child, strings, depth + 1);
    }
  }
  return changed;
}

}  // namespace bulkhead
