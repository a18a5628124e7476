#include "vscode/disarm.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>

#include "policy/extension_id.h"
#include "vscode/json_string.h"
#include "vscode/json_text.h"
#include "vscode/json_tree.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 200;      // as is_moderate() has it
constexpr size_t kMaxLinks = 1000;  // of one text, with arguments that are judged
// Longer ones are none: each is looked for from its own beginning.
constexpr size_t kLongestId = 256, kLongestArguments = 64U << 10U;

// Where the first of these letters stands, or the text ends; npos where neither is near.
size_t end_of(std::string_view text, size_t from, const char* letters, size_t longest) {
  const size_t found = text.substr(from, longest).find_first_of(letters);
  if (found != std::string_view::npos) return from + found;
  return text.size() - from <= longest ? text.size() : std::string_view::npos;
}

// Fields of VS Code's messages that are pictures: fetched by the page as soon as they are shown.
bool is_picture(const std::string& key) {
  static const std::set<std::string> kKeys = {"dark", "light", "logo", "image"};
  const std::string lower = lower_case(key);  // "iconDark", "userIconPath", "authorIcon"
  return kKeys.contains(lower) || lower.find("icon") != std::string::npos ||
         lower.find("avatar") != std::string::npos || lower.find("thumbnail") != std::string::npos;
}

// Fields whose text is an address that a click opens.
bool is_address(const std::string& key) {
  static const std::set<std::string> kKeys = {"url", "uri", "href", "link", "target", "learnMore"};
  return kKeys.contains(key);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Whether the word, in letters of any case, stands there. It is written in small ones.
bool stands_at(std::string_view text, size_t at, std::string_view word) {
  if (at > text.size() || text.size() - at < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i)
    if (lower(text[at + i]) != word[i]) return false;
  return true;
}

// Whether "mm" or "tt" begins at one of the kAtOnce letters, in any case. Without a branch, so that
// the compiler looks at sixteen at a time.
constexpr size_t kAtOnce = 64;
bool doubles(const char* letters) {
  uint8_t found = 0;  // wider ones would make it look at fewer
  for (size_t i = 0; i < kAtOnce; ++i) {
    const auto first = static_cast<uint8_t>(letters[i] | 0x20),
               second = static_cast<uint8_t>(letters[i + 1] | 0x20);
    const auto same = static_cast<uint8_t>(first == second), m = static_cast<uint8_t>(first == 'm'),
               t = static_cast<uint8_t>(first == 't');
    found = static_cast<uint8_t>(found | (same & (m | t)));
  }
  return found != 0;
}

// Whether "command" or "http" stands somewhere, in letters of any case: schemes have none.
bool names_scheme(std::string_view text) {
  for (size_t from = 1; from + 1 < text.size(); from += kAtOnce) {
    if (text.size() - from > kAtOnce && !doubles(text.data() + from)) continue;
    const size_t end = std::min(from + kAtOnce, text.size() - 1);
    for (size_t i = from; i < end; ++i) {
      const char c = lower(text[i]);
      if (c != lower(text[i + 1])) continue;
      if (c == 'm' && i >= 2 && stands_at(text, i - 2, "command")) return true;
      if (c == 't' && stands_at(text, i - 1, "http")) return true;
    }
  }
  return false;
}

// What a page fetches something for as soon as it shows it.
constexpr std::array<std::string_view, 8> kFetching = {"img",    "image",   "video", "audio",
                                                       "source", "picture", "input", "track"};

std::string_view fetching_tag(std::string_view text, size_t at) {
  for (const std::string_view tag : kFetching)
    if (stands_at(text, at, tag)) return text.substr(at, tag.size());
  return {};
}

size_t strip_tags(std::string& text) {
  size_t changed = 0, kept = 0;
  std::string stripped;
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; ++at)
    if (const std::string_view tag = fetching_tag(text, at + 1); !tag.empty()) {
      stripped.append(text, kept, at + 1 - kept).append("br");
      kept = at + 1 + tag.size();
      ++changed;
    }
  if (changed > 0) text = stripped.append(text, kept);
  return changed;
}

// "![label](data:image/…)" in the plainest spelling: the picture is in the text itself. Or, where
// they are what they say, "![label](file:///…)".
bool is_picture_at_hand(std::string_view text, size_t at, bool files) {
  const size_t end = text.find_first_of("[]\\`<&!\n\r", at + 2);
  if (end == std::string_view::npos) return false;
  text.remove_prefix(end);
  return text.starts_with("](data:image/") || (files && text.starts_with("](file:///"));
}

// Markdown has many ways to spell an address: no other picture stays one, but becomes a link.
// Addresses stand behind "](" or the "]:" of a definition: Rust's "#![allow(x)]" has neither.
size_t strip_pictures(std::string& text, bool files) {
  if (text.find("](") == std::string::npos && text.find("]:") == std::string::npos) return 0;
  size_t changed = 0, kept = 0;
  std::string stripped;
  for (size_t at = 0; (at = text.find("![", at)) != std::string::npos; at += 2) {
    if (is_picture_at_hand(text, at, files)) continue;
    stripped.append(text, kept, at - kept);
    while (stripped.ends_with('!')) stripped.pop_back();  // "!![" would be one again
    kept = at + 1;
    ++changed;
  }
  if (changed > 0) text = stripped.append(text, kept);
  return changed;
}

const Json kNothing;
constexpr std::string_view kCommand = "command";
constexpr const char* kNobodys = "%";  // no command's name

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Where the text ends or has a colon, if what stands before that is "command" to whoever looks at
// letters and digits alone; npos where it is not. Markdown steps over spaces of all kinds, "<" and
// backslashes before it takes an address.
size_t after_command(std::string_view text) {
  size_t at = 0, letters = 0;
  for (; at < text.size() && text[at] != ':'; ++at) {
    if (!is_letter(text[at])) continue;
    if (letters == kCommand.size() || lower(text[at]) != kCommand[letters++])
      return std::string_view::npos;
  }
  return letters == kCommand.size() ? at : std::string_view::npos;
}

// The command of "command:ID?ARGUMENTS"; escapes in it stay, and are no command's. In another
// spelling it is nobody's.
std::optional<std::string> linked_command(std::string_view address) {
  const size_t colon = after_command(address);
  if (colon >= address.size()) return std::nullopt;
  if (colon != kCommand.size()) return kNobodys;
  address.remove_prefix(colon + 1);
  return std::string(address.substr(0, address.find_first_of("?#")));
}

// The same of a text, where it is a link, or of an address taken apart.
std::optional<std::string> linked_command(const Json& link, bool is_link) {
  if (link.is_string())
    return is_link ? linked_command(link.get_ref<const std::string&>()) : std::nullopt;
  if (!link.is_object()) return std::nullopt;
  const auto part = [&](const char* key) -> std::string_view {
    const auto found = link.find(key);
    if (found == link.end() || !found->is_string()) return {};
    return found->get_ref<const std::string&>();
  };
  // VS Code makes a text of a list: "command" of ["command"].
  if (const auto scheme = link.find("scheme");
      scheme != link.end() && scheme->is_array() && link.contains("path"))
    return kNobodys;
  const std::string_view scheme = part("scheme"), path = part("path");
  if (after_command(scheme) == scheme.size())
    return scheme.size() == kCommand.size() ? std::string(path) : kNobodys;
  // Where VS Code makes one text of it, that is read anew: each part may hold all of an address.
  return linked_command(scheme.empty() ? path : scheme);
}

// What stands behind "command:ID?" is decoded and read by the opener, twice decoded if need be.
// Only what is written as everybody writes it, and means one thing: a list, as JSON.stringify has
// it.
std::optional<Json> link_arguments(const std::string& encoded) {
  std::string text;
  const auto digit = [](char c) { return std::string_view("0123456789abcdef").find(lower(c)); };
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      text += encoded[i];
      continue;
    }
    if (i + 2 >= encoded.size()) return std::nullopt;
    const size_t high = digit(encoded[i + 1]), low = digit(encoded[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (text.find('%') != std::string::npos) return std::nullopt;
  Json value = parse_json(text);
  if (!value.is_array() || json_string(value) != text) return std::nullopt;
  return value;
}

size_t replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
    ++count;
  }
  return count;
}

// What MarkdownString.uris says that the addresses in its text stand for: files alone.
bool are_files(const Json& uris) {
  if (!uris.is_object()) return uris.is_null();
  for (const Json& uri : uris) {
    const auto scheme = uri.is_object() ? uri.find("scheme") : uri.end();
    if (scheme == uri.end() || (*scheme != "file" && *scheme != "vscode-remote")) return false;
  }
  return true;
}

// Of a completion, "p", or where "n" is something, that alone; of others "arguments".
Json arguments_of_item(const Json& item, bool completion) {
  if (!completion) return item.value("arguments", Json());
  const Json handle = item.value("n", Json());
  const bool given = handle.is_string() ? !handle.get_ref<const std::string&>().empty()
                                        : !(handle.is_null() || handle == false || handle == 0);
  return given ? Json::array({handle}) : item.value("p", Json());
}

// What VS Code makes a command's name of: a text, or a list or an object, which may be one in
// another guise and is nobody's.
bool is_name(const Json& id) { return id.is_string() || id.is_structured(); }
std::string name_of(const Json& id) { return id.is_string() ? id.get<std::string>() : kNobodys; }

// {command, title, arguments}: what stands below the input of a chat. There the chat's session may
// come before the arguments.
template <typename MayRun>
size_t refuse_named(Json& commands, const MayRun& may_run) {
  size_t changed = 0;
  if (!commands.is_structured()) return changed;
  for (Json& each : commands) {
    const auto id = each.is_object() ? each.find("command") : each.end();
    if (id == each.end() || !is_name(*id) || may_run(name_of(*id))) continue;
    *id = "bulkhead.refused";
    ++changed;
  }
  return changed;
}

// A scheme in the spelling that VS Code's own have, so that browsers read it alike.
bool is_plain_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  });
}

bool is_web_scheme(std::string_view text) {
  const std::string scheme = lower_case(text);
  return scheme == "http" || scheme == "https";
}

// Whether a scheme stands there that is no plain text: what VS Code makes of it, a browser may read
// as another one.
bool spells_scheme_oddly(std::string_view json) {
  constexpr std::string_view kKey = "\"scheme\"", kSpace = " \t\r\n";
  if (!holds(json, kKey)) return false;
  for (size_t at = 0; (at = json.find(kKey, at)) != std::string_view::npos;) {
    at += kKey.size();
    std::string_view rest = json.substr(std::min(json.find_first_not_of(kSpace, at), json.size()));
    if (!rest.starts_with(':')) continue;  // a text
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpace, 1), rest.size()));
    if (!rest.starts_with('"') || !is_plain_scheme(rest.substr(1, rest.find('"', 1) - 1)))
      return true;
  }
  return false;
}

}  // namespace

bool holds_command(std::string_view key) {
  return key.ends_with("ommand") || key.ends_with("ommands") || key == "gutterMenuLinkAction";
}

bool is_fetched(const Json& picture) {
  if (picture.is_string()) {
    // As browsers read it: without tabs and what stands before it.
    std::string text;
    for (const char c : picture.get_ref<const std::string&>())
      if (c != '\t' && c != '\r' && c != '\n' &&
          (!text.empty() || static_cast<unsigned char>(c) > 0x20))
        text += c == '\\' ? '/' : c;
    return text.starts_with("//") || is_web_scheme(text.substr(0, text.find(':')));
  }
  if (!picture.is_object()) return false;
  const auto scheme = picture.find("scheme");
  if (scheme == picture.end()) {  // the path may be all of it
    const auto path = picture.find("path");
    return picture.contains("authority") ||
           (path != picture.end() && path->is_string() && is_fetched(*path));
  }
  // VS Code makes a text of what is none: "https" of ["https"].
  if (!scheme->is_string()) return true;
  const std::string& text = scheme->get_ref<const std::string&>();
  return !is_plain_scheme(text) || is_web_scheme(text);
}

bool Disarm::concerns(std::string_view json) noexcept {
  // "\u" may hide any of these.
  for (const char* word : {"LinkAction", "isTrusted", "CLIPBOARD", "![", "\\u00"})
    if (holds(json, word)) return true;
  for (size_t at = 0; (at = json.find('<', at)) != std::string_view::npos; ++at)
    if (!fetching_tag(json, at + 1).empty()) return true;
  return names_scheme(json) || spells_scheme_oddly(json);
}

size_t Disarm::disarm(Json& value, Strings strings) const { return walk(value, strings, 0); }

// {value, isTrusted, supportHtml, …}: a MarkdownString as it travels; all but the text may lack.
size_t Disarm::markdown(Json& object, Strings strings) const {
  size_t changed = 0;
  if (strings == Strings::kPicks) changed += object.erase("isTrusted");
  if (const auto trusted = object.find("isTrusted");
      trusted != object.end() && !trusted->is_null() && *trusted != false) {
    // Links run the commands that are named here and no others.
    Json enabled = Json::array();
    std::set<std::string> named;
    const auto enable = [&](const std::string& id, const Json& link) {
      if (named.insert(id).second) enabled.push_back(link);
    };
    const bool listed = trusted->is_object() && trusted->contains("enabledCommands") &&
                        (*trusted)["enabledCommands"].is_array();
    std::set<std::string> others;  // which may be run with some arguments alone
    if (listed)
      for (const Json& each : (*trusted)["enabledCommands"]) {
        if (each.is_object()) {  // with these arguments alone
          const Json command = each.value("command", Json()),
                     arguments = each.value("arguments", Json());
          if (!command.is_string() || !arguments.is_string()) continue;
          const std::string id = command.get<std::string>(), given = arguments.get<std::string>();
          if (rules_.may_run(id))
            enable(fmt::format("{}?{}", id, given), {{"command", id}, {"arguments", given}});
          else
            others.insert(id);
          continue;
        }
        if (!each.is_string()) continue;
        if (rules_.may_run(each.get<std::string>()))
          enable(each.get<std::string>(), each);
        else
          others.insert(each.get<std::string>());
      }
    if (const auto text = object.find("value"); text != object.end() && text->is_string()) {
      const std::string& markdown = text->get_ref<const std::string&>();
      size_t judged = 0;
      for (size_t at = 0; (at = markdown.find("command:", at)) != std::string::npos;) {
        at += 8;
        const size_t end = end_of(markdown, at, "?)\"' >\n\t#&", kLongestId);
        if (end == std::string::npos) continue;
        std::string id = markdown.substr(at, end - at);
        if (listed && !others.contains(id)) continue;
        if (rules_.may_run(id)) {
          enable(id, id);
        } else if (end < markdown.size() && markdown[end] == '?' && judged++ < kMaxLinks) {
          const size_t last = end_of(markdown, end, ")\"' >\n\t#&", kLongestArguments);
          if (last == std::string::npos) continue;
          if (const auto given = link_arguments(markdown.substr(end + 1, last - end - 1));
              given && may_run(id, *given))
            enable(id + "?" + json_string(*given),
                   {{"command", id}, {"arguments", json_string(*given)}});
        }
      }
    }
    const Json allowed = {{"enabledCommands", enabled}};
    if (*trusted != allowed) {
      *trusted = allowed;
      ++changed;
    }
  }
  if (rules_.may_fetch) return changed;
  std::string& shown = object["value"].get_ref<std::string&>();
  const auto uris = object.find("uris");
  changed += strip_pictures(shown, uris == object.end() || are_files(*uris));
  // Without it VS Code shows tags as text, or leaves them out.
  const auto html = object.find("supportHtml");
  const bool has_tags = html != object.end() && !html->is_null() && *html != false;
  return has_tags ? changed + strip_tags(shown) : changed;
}

// "[label](command:ID)", and what else is a link in Markdown or HTML: whatever is an address, once
// something before it may begin a link. What may stand between is more than can be listed.
size_t Disarm::message_links(std::string& text) const {
  size_t changed = 0, kept = 0;
  std::string stripped;
  bool in_link = false;
  for (size_t at = 0; at < text.size(); ++at) {
    in_link = in_link || text[at] == '<' ||
              (text[at] == ']' && (stands_at(text, at + 1, "(") || stands_at(text, at + 1, ":")));
    if (!in_link || !stands_at(text, at, kCommand) || (at > 0 && is_letter(text[at - 1]))) continue;
    const size_t after = at + kCommand.size();
    const size_t colon = std::min(text.find_first_not_of('\\', after), text.size());
    if (!stands_at(text, colon, ":")) continue;
    const size_t from = colon + 1;
    const size_t end = end_of(text, from, "?#)\"'> \t\r\n", kLongestId);
    if (colon == after && stands_at(text, from, " ")) continue;  // "command: what it was"
    if (colon == after && end < text.size() && rules_.may_run(text.substr(from, end - from)))
      continue;
    stripped.append(text, kept, at - kept).push_back('#');
    kept = at;
    ++changed;
  }
  if (changed > 0) text = stripped.append(text, kept);
  return changed;
}

// {id, title, arguments}: what a button, a lens or an action runs when it is clicked.
size_t Disarm::command(Json& object) const {
  size_t changed = 0;
  if (object.is_array())
    for (Json& each : object) changed += command(each);
  if (!object.is_object()) return changed;
  const auto id = object.find("id");
  if (id == object.end() || !is_name(*id)) return changed;
  const auto given = object.find("arguments");
  if (may_run(name_of(*id), given == object.end() ? kNothing : *given)) return changed;
  *id = "bulkhead.refused";
  object["arguments"] = Json::array();
  return changed + 1;
}

bool Disarm::may_run(const std::string& command, const Json& arguments) const {
  return rules_.may_run_with ? rules_.may_run_with(command, arguments) : rules_.may_run(command);
}

size_t Disarm::disarm_command(Json& value) const {
  if (!value.is_string()) return command(value);
  if (may_run(value.get<std::string>(), Json::array())) return 0;
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
    if (strings == Strings::kMessages || strings == Strings::kPicks) changed += message_links(text);
    if ((strings == Strings::kSnippets || strings == Strings::kItems) && !rules_.may_paste) {
      // As long, so that nothing has to move.
      changed += replace_all(text, "$CLIPBOARD", "$FORBIDDEN");
      changed += replace_all(text, "${CLIPBOARD", "${FORBIDDEN");
    }
    return changed;
  }
  if (value.is_object()) {
    const auto shown = value.find("value");
    const bool shows_markdown = shown != value.end() && shown->is_string();
    const auto flag = value.find("insertAsSnippet");
    const bool is_snippet = flag != value.end() && *flag == true;
    if (shows_markdown)
      changed += markdown(value, strings);
    else  // VS Code joins two of one trust: a list becomes a text
      changed += value.erase("isTrusted") + value.erase("supportHtml");
    for (auto member = value.begin(); member != value.end();) {
      const std::string& key = member.key();
      if (holds_command(key)) changed += command(member.value());
      if (key == "commands") changed += refuse_named(member.value(), rules_.may_run);
      const bool by_id =
          strings == Strings::kItems && (key == "o" || (key == "command" && member->is_string()));
      const auto linked = linked_command(*member, is_address(key));
      if ((linked && !rules_.may_run(*linked)) ||
          (by_id && !(member->is_string() &&
                      may_run(member->get<std::string>(), arguments_of_item(value, key == "o"))))) {
        member = value.erase(member);
        ++changed;
        continue;
      }
      if (key == "enableCommandUris") changed += command_links(member.value());
      // What a row of a view stands for is opened where a person drops it.
      if (!rules_.may_fetch && (is_picture(key) || key == "resourceUri") &&
          is_fetched(member.value())) {
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
