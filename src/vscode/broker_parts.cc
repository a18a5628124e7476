#include "vscode/broker_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "vscode/json_text.h"

namespace bulkhead::broker_parts {

std::vector<uint8_t> error_reply(uint32_t number, const std::string& name,
                                 const std::string& message) {
  const std::string text =
      json_string(Json{{"$isError", true}, {"name", name}, {"message", message}, {"stack", ""}});
  RpcReply reply;
  reply.type = RpcType::kReplyError;
  reply.number = number;
  reply.json = text;
  return write_reply(reply);
}

std::vector<uint8_t> empty_reply(uint32_t number) {
  RpcReply reply;
  reply.number = number;
  return write_reply(reply);
}

std::vector<uint8_t> json_reply(uint32_t number, std::string_view json) {
  RpcReply reply;
  reply.type = RpcType::kReplyOkJson;
  reply.number = number;
  reply.json = json;
  return write_reply(reply);
}

std::string handle_of(const Json& value) {
  if (!value.is_number()) return {};
  const auto number = value.get<double>();
  return number == 0 ? "0" : json_string(Json(number));
}

std::vector<uint8_t> acknowledgement(uint32_t number) {
  std::vector<uint8_t> body(5, static_cast<uint8_t>(RpcType::kAcknowledged));
  for (unsigned i = 0; i < 4; ++i) body[1 + i] = static_cast<uint8_t>(number >> (24U - 8U * i));
  return body;
}

void refuse_told(const RpcRequest& request, const std::string& why, Outbox& outbox) {
  outbox.to_workbench(acknowledgement(request.number));
  outbox.to_workbench(error_reply(request.number, "Error", why));
}

void withhold(const RpcRequest& request, Outbox& outbox, std::string_view instead) {
  outbox.to_workbench(acknowledgement(request.number));
  outbox.to_workbench(instead.empty() ? empty_reply(request.number)
                                      : json_reply(request.number, instead));
}

std::vector<uint8_t> with_arguments(const RpcRequest& request, const Json& arguments) {
  RpcRequest changed = request;
  const std::string text = json_string(arguments);
  changed.json = text;
  return write_request(changed);
}

std::optional<std::vector<uint8_t>> with_added(const RpcRequest& request, size_t index,
                                               const Json& value) {
  RpcRequest changed = request;
  const std::string added = json_string(value);
  if (request.mixed) {
    if (request.arguments.size() > index) return std::nullopt;
    changed.arguments.resize(index);  // undefined
    changed.arguments.push_back({RpcArgument::Type::kJson, added, {}});
    return write_request(changed);
  }
  const auto elements = split_array(request.json);
  if (!elements || elements->size() > index) return std::nullopt;
  std::string all = "[";
  for (size_t i = 0; i < index; ++i)
    all.append(i < elements->size() ? (*elements)[i] : "null").push_back(',');
  all.append(added).push_back(']');
  changed.json = all;
  return write_request(changed);
}

std::optional<std::vector<uint8_t>> with_argument(const RpcRequest& request, size_t index,
                                                  const std::function<void(Json&)>& change) {
  const auto changed_text = [&](std::string_view text) -> std::optional<std::string> {
    Json value = parse_json(text);
    if (value.is_discarded()) return std::nullopt;
    change(value);
    return json_string(value);
  };
  RpcRequest changed = request;
  if (request.mixed) {
    if (index >= request.arguments.size()) return std::nullopt;
    const auto text = changed_text(request.arguments[index].json);
    if (!text) return std::nullopt;
    changed.arguments[index].json = *text;
    return write_request(changed);
  }
  const auto elements = split_array(request.json);
  if (!elements || index >= elements->size()) return std::nullopt;
  const auto text = changed_text((*elements)[index]);
  if (!text) return std::nullopt;
  std::string all = "[";
  for (size_t i = 0; i < elements->size(); ++i) {
    if (i > 0) all += ',';
    all += i == index ? *text : (*elements)[i];
  }
  all += ']';
  changed.json = all;
  return write_request(changed);
}

std::string text_of_arguments(const RpcRequest& request) {
  if (!request.mixed) return std::string(request.json);
  std::string text = "[";
  for (const RpcArgument& each : request.arguments) {
    if (text.size() > 1) text += ',';
    if (each.type == RpcArgument::Type::kBuffer)
      text += fmt::format("\"bytes of request {}\"", request.number);
    else
      text += each.json.empty() ? "null" : each.json;
    if (each.type == RpcArgument::Type::kJsonWithBuffers)
      text += fmt::format(",\"with bytes of request {}\"", request.number);
  }
  return text + "]";
}

Json arguments_of(const RpcRequest& request,
                  const std::function<bool(size_t, std::string_view)>& wanted) {
  Json arguments = Json::array();
  const auto add = [&](std::string_view text, bool moderate) {
    if (!wanted(arguments.size(), text))  // what is built is looked at as it is
      arguments.push_back(moderate || is_moderate(text) ? Json() : Json(Json::value_t::discarded));
    else
      arguments.push_back(parse_json(text));
    return !arguments.back().is_discarded();
  };
  if (!request.mixed) {
    const auto elements = split_array(request.json);
    if (!elements) return Json(Json::value_t::discarded);
    for (const std::string_view element : *elements)
      if (!add(element, true)) return Json(Json::value_t::discarded);
    return arguments;
  }
  for (const RpcArgument& argument : request.arguments) {
    const bool json = argument.type == RpcArgument::Type::kJson ||
                      argument.type == RpcArgument::Type::kJsonWithBuffers;
    if (!json)
      arguments.push_back(nullptr);
    else if (!add(argument.json, false))
      return Json(Json::value_t::discarded);
  }
  return arguments;
}

Json arguments_of(const RpcRequest& request, const std::function<bool(size_t)>& wanted) {
  return arguments_of(request, [&](size_t index, std::string_view) { return wanted(index); });
}

Json argument_of(const RpcRequest& request, size_t index) {
  return at(arguments_of(request, [index](size_t argument) { return argument == index; }), index);
}

bool is_none(const Json& value) {
  return value.is_null() || (value.is_object() && value.size() == 1 && value.contains("$$ref$$") &&
                             value["$$ref$$"] == -1);
}

bool anywhere(const Json& value, const std::function<bool(const Json&)>& is, int depth) {
  if (depth > 20 || is(value)) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), [&](const Json& each) {
           return anywhere(each, is, depth + 1);
         });
}

bool has_prototype(const Json& value) {
  if (value.is_object() && value.contains("__proto__")) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_prototype);
}

bool names_prototype(std::string_view json) {
  if (!may_name(json, {"__proto__"})) return false;
  const Json value = parse_json(json);
  return value.is_discarded() || has_prototype(value);
}

std::vector<std::string> declared_commands(const Json& description) {
  std::vector<std::string> found;
  const auto contributes = description.find("contributes");
  if (contributes == description.end() || !contributes->is_object()) return found;
  const auto commands = contributes->find("commands");
  if (commands == contributes->end() || !commands->is_array()) return found;
  for (const Json& each : *commands)
    if (each.is_object()) found.push_back(text_of(each.value("command", Json())));
  return found;
}

std::set<std::string> waking_commands(const Json& description) {
  constexpr std::string_view kCommand = "onCommand:";
  std::set<std::string> found;
  const auto events = description.find("activationEvents");
  if (events == description.end() || !events->is_array()) return found;
  for (const Json& each : *events)
    if (const std::string event = text_of(each); event.starts_with(kCommand))
      found.insert(event.substr(kCommand.size()));
  return found;
}

DeclaredParts declared_parts(const Json& description) {
  DeclaredParts found;
  const auto each_of = [](const Json& list, const auto& take) {
    if (list.is_object()) take(list);
    if (list.is_array())
      for (const Json& each : list)
        if (each.is_object()) take(each);
  };
  const auto add = [](std::set<std::string>& names, const Json& one, const char* key,
                      const char* what = "") {
    if (const auto name = one.find(key); name != one.end() && name->is_string())
      names.insert(what + name->get<std::string>());
  };
  if (const auto events = description.find("activationEvents");
      events != description.end() && events->is_array()) {
    constexpr std::string_view kPanel = "onWebviewPanel:";
    for (const Json& each : *events) {
      const std::string event = text_of(each);
      if (!event.starts_with(kPanel)) continue;
      found.others.insert(event.substr(kPanel.size()));
      found.views.insert("panel/" + event.substr(kPanel.size()));
    }
  }
  const auto contributes = description.find("contributes");
  if (contributes == description.end() || !contributes->is_object()) return found;
  if (const auto views = contributes->find("views");
      views != contributes->end() && views->is_object())
    for (const Json& container : *views)
      each_of(container, [&](const Json& view) { add(found.views, view, "id"); });
  if (const auto containers = contributes->find("viewsContainers");
      containers != contributes->end() && containers->is_object())
    for (const Json& place : *containers)
      each_of(place, [&](const Json& one) { add(found.views, one, "id", "container/"); });
  if (const auto editors = contributes->find("customEditors"); editors != contributes->end())
    each_of(*editors, [&](const Json& editor) { add(found.views, editor, "viewType"); });
  for (const auto& [list, key, what] :
       {std::tuple{"debuggers", "type", "debug/"}, std::tuple{"notebooks", "type", "notebook/"},
        std::tuple{"notebookRenderer", "id", "renderer/"},
        std::tuple{"chatSessions", "type", "chat-session/"},
        std::tuple{"chatParticipants", "id", "chat/"},
        std::tuple{"problemMatchers", "owner", "problems/"}})
    if (const auto parts = contributes->find(list); parts != contributes->end())
      each_of(*parts,
              [&, key = key, what = what](const Json& part) { add(found.views, part, key, what); });
  if (const auto settings = contributes->find("configuration"); settings != contributes->end())
    each_of(*settings, [&](const Json& section) {
      const auto properties = section.find("properties");
      if (properties == section.end() || !properties->is_object()) return;
      for (const auto& [key, value] : properties->items())
        found.views.insert("problems/" + key.substr(0, key.find('.')));
    });
  for (const auto& [list, key] :
       {std::pair{"chatParticipants", "id"}, std::pair{"languageModelTools", "name"},
        std::pair{"languageModelChatProviders", "vendor"}, std::pair{"chatSessions", "type"},
        std::pair{"chatOutputRenderers", "viewType"}})
    if (const auto parts = contributes->find(list); parts != contributes->end())
      each_of(*parts, [&, key = key](const Json& part) { add(found.others, part, key); });
  if (const auto contexts = contributes->find("chatContext"); contexts != contributes->end())
    each_of(*contexts, [&](const Json& context) {
      const Json whose = description.value("identifier", Json());
      const std::string id = whose.is_object() ? text_of(whose.value("value", Json())) : "";
      found.others.insert("chat-context/" +
                          lower_case(id + "-" + text_of(context.value("id", Json()))));
    });
  if (const auto tools = contributes->find("languageModelTools"); tools != contributes->end())
    each_of(*tools, [&](const Json& tool) { add(found.views, tool, "name", "tool/"); });
  if (const auto signs = contributes->find("authentication"); signs != contributes->end())
    each_of(*signs, [&](const Json& provider) {
      add(found.others, provider, "id");
      add(found.views, provider, "id", "authentication/");
    });
  return found;
}

void strip_marks(Json& object, std::initializer_list<const char*> members) {
  if (!object.is_object()) return;
  for (const char* member : members) {
    const auto text = object.find(member);
    if (text == object.end() || text->is_null()) continue;
    if (!text->is_string()) *text = "";
    for (char& c : text->get_ref<std::string&>())
      if (static_cast<unsigned char>(c) < 0x20 || kMarks.find(c) != std::string_view::npos) c = ' ';
  }
}

Json nowhere() {
  return {{"$mid", 1}, {"scheme", "bulkhead"}, {"authority", "refused"}, {"path", "/"}};
}

std::string command_family(const std::string& id) {
  // Many packages begin with "extension.", as a template had it. So does the editor's own debugger.
  constexpr std::string_view kAnybodys = "extension.";
  const std::string name = lower_case(id);
  return name.substr(0, name.find('.', name.starts_with(kAnybodys) ? kAnybodys.size() : 0));
}

bool is_editors_family(const std::string& id) {
  const std::string family = command_family(id);
  return family == "workbench" || family == "editor" || family == "vscode" || family == "bulkhead";
}

bool is_editors_chat(const std::string& type) {
  return type == "local" || type == "copilot-growth" || type.starts_with("agent-host-") ||
         type.starts_with("remote-");
}

bool is_public_of_editor(const Resource& resource) {
  static const std::set<std::string> kPublic = {"schemas", "schemas-associations",
                                                "defaultsettings"};
  return resource.scheme == "vscode" && kPublic.contains(resource.authority);
}

bool is_reserved_scheme(const std::string& scheme) {
  // Others begin with "vscode" or "chat".
  static const std::set<std::string> kReserved = {"file",
                                                  "http",
                                                  "https",
                                                  "untitled",
                                                  "output",
                                                  "settings",
                                                  "extension",
                                                  "command",
                                                  "code-oss",
                                                  "agent-host-session",
                                                  "copilot-skill",
                                                  "scm-history-item",
                                                  "data",
                                                  "blob",
                                                  "mailto",
                                                  "git",
                                                  "private",
                                                  "inmemory",
                                                  "tmp",
                                                  "walkthrough",
                                                  "walkthroughsnippet",
                                                  "trusteddomains",
                                                  "mcp-resource",
                                                  "agent-host-settings",
                                                  "agent-session-settings",
                                                  "userdataprofileexport",
                                                  "userdataprofileexportpreview",
                                                  "userdataprofiletemplatepreview",
                                                  "edit-sessions",
                                                  "sessions-chat",
                                                  "webview-panel",
                                                  "vsls",
                                                  "comment",
                                                  "code-setting",
                                                  "accessible-view",
                                                  "copilot-pr",
                                                  "debug",
                                                  "perf"};
  const std::string name = lower_case(scheme);
  return name.empty() || kReserved.contains(name) || name.starts_with("vscode") ||
         name.starts_with("chat");
}

namespace {

// "Untitled-1", and what VS Code calls a notebook, "Untitled-1.ipynb".
bool is_numbered(std::string_view path) {
  constexpr std::string_view kNumbered = "Untitled-", kDigits = "0123456789";
  if (!path.starts_with(kNumbered)) return false;
  const size_t end = std::min(path.find_first_not_of(kDigits, kNumbered.size()), path.size());
  return end == path.size() || (end > kNumbered.size() && path[end] == '.' &&
                                path.find_first_of("/\\", end) == std::string_view::npos);
}

}  // namespace

std::optional<Json> file_to_be(const Resource& resource) {
  const std::string& path = resource.path;
  if (lower_case(resource.scheme) != "untitled" || path.empty() || is_numbered(path))
    return std::nullopt;
  return Json{{"scheme", "file"}, {"path", path.starts_with('/') ? path : "/" + path}};
}

bool stands_for_file(const std::string& scheme) {
  static const std::set<std::string> kSchemes = {"vscode-notebook-cell",
                                                 "vscode-notebook-cell-metadata",
                                                 "vscode-notebook-cell-output",
                                                 "vscode-notebook-cell-metadata-diff",
                                                 "vscode-notebook-cell-output-diff",
                                                 "vscode-notebook-metadata",
                                                 "vscode-bulkeditpreview-editor",
                                                 "chat-editing-snapshot-text-model",
                                                 "chat-editing-text-model",
                                                 "chat-editing-notebook-snapshot-model",
                                                 "modified-file-entry",
                                                 "private",
                                                 "showmodifications",
                                                 "git",
                                                 "git-show",
                                                 "gitfs",
                                                 "vscode-local-history",
                                                 "merge-conflict.conflict-diff",
                                                 "conflictresolution"};
  return kSchemes.contains(scheme);
}

bool is_editors_own(const std::string& scheme) {
  static const std::set<std::string> kSchemes = {
      "output", "vscode-userdata", "vscode-userdata-sync", "vscode-settings", "vscode-terminal",
      "vscode-test-data", "terminal_output", "environment_changes_collection", "accessible-view",
      "search-editor", "debug",
      // The page fetches these, with what opens the server.
      "http", "https", "vscode-remote-resource", "vscode-managed-remote-resource",
      "vscode-agent-host", "vscode-synced-customization", "agent-host-settings",
      "agent-session-settings", "userdataprofileexport", "userdataprofileexportpreview",
      "mcp-resource"};
  return kSchemes.contains(scheme) || scheme.starts_with("clipboardcompare");
}

}  // namespace bulkhead::broker_parts
