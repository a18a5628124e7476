#include "vscode/broker.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "base/path.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxAsking = 16;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<uint8_t> copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// The reply of an actor whose method failed, as VS Code serialises errors.
std::vector<uint8_t> error_reply(uint32_t number, const std::string& name,
                                 const std::string& message) {
  const std::string text =
      Json{{"$isError", true}, {"name", name}, {"message", message}, {"stack", ""}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
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

// Every request is acknowledged before it is answered: the sender counts those to see that the
// other side is alive.
std::vector<uint8_t> acknowledgement(uint32_t number) {
  std::vector<uint8_t> body(5, static_cast<uint8_t>(RpcType::kAcknowledged));
  for (unsigned i = 0; i < 4; ++i) body[1 + i] = static_cast<uint8_t>(number >> (24U - 8U * i));
  return body;
}

// The arguments of a request as one JSON array; buffers stand as null, being content.
Json arguments_of(const RpcRequest& request) {
  if (!request.mixed) return Json::parse(request.json, nullptr, false);
  Json arguments = Json::array();
  for (const RpcArgument& argument : request.arguments) {
    switch (argument.type) {
      case RpcArgument::Type::kJson:
      case RpcArgument::Type::kJsonWithBuffers:
        arguments.push_back(Json::parse(argument.json, nullptr, false));
        break;
      default:
        arguments.push_back(nullptr);
    }
    if (arguments.back().is_discarded()) return Json(Json::value_t::discarded);
  }
  return arguments;
}

const Json kNull;
const Json& at(const Json& array, size_t i) {
  return array.is_array() && i < array.size() ? array[i] : kNull;
}

// Schemes that stand for files, for the editor's own things or for the network: nobody but VS Code
// provides these.
bool is_reserved_scheme(const std::string& scheme) {
  static const std::set<std::string> kReserved = {"file",
                                                  "vscode-remote",
                                                  "vscode-userdata",
                                                  "vscode-local",
                                                  "vscode",
                                                  "vscode-app",
                                                  "http",
                                                  "https",
                                                  "untitled",
                                                  "output",
                                                  "settings",
                                                  "vscode-settings",
                                                  "vscode-managed-remote-resource",
                                                  "extension",
                                                  "vscode-terminal",
                                                  "command",
                                                  "data",
                                                  "blob",
                                                  "mailto",
                                                  "vscode-webview",
                                                  "vscode-notebook-cell",
                                                  "git"};
  return scheme.empty() || kReserved.contains(lower(scheme));
}

}  // namespace

struct Broker::Ruling {
  enum class Way : uint8_t { kPass, kQuiet, kDeny, kAsk };
  Way way = Way::kPass;
  std::string error_name = "Error";
  std::string message;

  static Ruling pass() { return {}; }
  static Ruling ask() { return {Way::kAsk, {}, {}}; }
  static Ruling quiet() { return {Way::kQuiet, {}, {}}; }
  static Ruling deny(std::string message, std::string name = "Error") {
    return {Way::kDeny, std::move(name), std::move(message)};
  }
  bool passes() const { return way == Way::kPass; }
};

Broker::Broker(const ApiTable& table, Arbiter& arbiter, BrokerOptions options)
    : table_(table), arbiter_(arbiter), options_(std::move(options)) {}

Broker::~Broker() { stop(); }

void Broker::stop() {
  std::vector<Asking> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(asking_);
  }
  if (!threads.empty()) arbiter_.stop_asking();
}

// ---------------------------------------------------------------------------------- outgoing

Broker::Ruling Broker::decide_permission(std::string_view permission, const std::string& method,
                                         bool may_block) {
  Attempt attempt;
  attempt.detail = method;
  switch (arbiter_.vscode(permission, attempt, may_block)) {
    case Arbiter::Ruling::kAllow:
      return Ruling::pass();
    case Arbiter::Ruling::kWouldAsk:
      return Ruling::ask();
    case Arbiter::Ruling::kDeny:
      break;
  }
  return Ruling::deny(fmt::format("bulkhead: this extension has no permission \"{}\"", permission));
}

Broker::Ruling Broker::decide_file(Kind kind, const Json& uri, const std::string& method,
                                   bool may_block) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource)
    return Ruling::deny("bulkhead: not a resource that can be judged", "NoPermissions");
  if (!resource->is_file) {
    // Documents without a file, and schemes that this very host provides. Everything else may be
    // another extension's or the editor's own.
    if (resource->scheme == "untitled" || knows(own_schemes_, resource->scheme))
      return Ruling::pass();
    arbiter_.note_refusal(Kind::kVscode, resource->scheme + ":" + resource->path,
                          "a resource of another extension or of the editor",
                          Attempt{0, 0, method, nullptr});
    return Ruling::deny(
        fmt::format("bulkhead: {}: is not this extension's to open", resource->scheme),
        "NoPermissions");
  }
  const auto canonical = canonical_file(resource->path);
  if (!canonical)
    return Ruling::deny("bulkhead: no such folder",
                        kind == Kind::kRead ? "EntryNotFound" : "NoPermissions");
  Attempt attempt;
  attempt.detail = method;
  switch (arbiter_.path(kind, *canonical, attempt, may_block)) {
    case Arbiter::Ruling::kAllow:
      return Ruling::pass();
    case Arbiter::Ruling::kWouldAsk:
      return Ruling::ask();
    case Arbiter::Ruling::kDeny:
      break;
  }
  return Ruling::deny(
      fmt::format("bulkhead: this extension may not {} {}", label(kind), *canonical),
      "NoPermissions");
}

bool Broker::knows(const std::set<std::string>& names, const std::string& name) {
  const std::lock_guard lock(mutex_);
  return names.contains(name);
}

bool Broker::own_extension(const Json& value) const {
  std::string id = text_of(value);
  if (value.is_object()) {
    // ExtensionIdentifier {value, _lower}, or an object that holds one as id or extensionId.
    for (const char* key : {"value", "id", "extensionId"}) {
      const auto it = value.find(key);
      if (it == value.end()) continue;
      return own_extension(*it);
    }
  }
  id = lower(std::move(id));
  return std::find(options_.extensions.begin(), options_.extensions.end(), id) !=
         options_.extensions.end();
}

Broker::Ruling Broker::decide_command(const Json& value, const Json& arguments,
                                      const std::string& method, bool may_block) {
  const std::string command = text_of(value);
  if (knows(registered_commands_, command)) return Ruling::pass();
  std::string needs;
  if (const auto exact = options_.commands.find(command); exact != options_.commands.end()) {
    needs = exact->second;
  } else {
    size_t longest = 0;
    for (const auto& [pattern, permission] : options_.commands) {
      if (!pattern.ends_with('*')) continue;
      const std::string_view prefix(pattern.data(), pattern.size() - 1);
      if (!command.starts_with(prefix) || prefix.size() < longest) continue;
      longest = prefix.size();
      needs = permission;
    }
  }
  if (needs.empty()) needs = "commands-foreign";
  const std::string detail = method + " " + command;
  if (needs == "refuse") {
    arbiter_.note_refusal(Kind::kVscode, command,
                          "a command that no extension in a compartment runs",
                          Attempt{0, 0, detail, nullptr});
    return Ruling::deny("bulkhead: extensions in a compartment cannot run " + command);
  }
  if (needs != "free") {
    const Ruling ruling = decide_permission(needs, detail, may_block);
    if (!ruling.passes()) return ruling;
  }
  // Resources in a command's arguments are opened, compared or revealed: each must be readable.
  Ruling worst = Ruling::pass();
  const std::function<void(const Json&, int)> walk = [&](const Json& part, int depth) {
    if (!worst.passes() || depth > 20) return;
    if (part.is_object() && part.contains("$mid") && part["$mid"] == 1) {
      worst = decide_file(Kind::kRead, part, detail, may_block);
      return;
    }
    if (part.is_structured())
      for (const Json& child : part) walk(child, depth + 1);
  };
  for (size_t i = 1; i < arguments.size(); ++i) walk(arguments[i], 0);
  return worst;
}

Broker::Ruling Broker::decide_edit(const Json& value, const std::string& method, bool may_block) {
  const auto edits = value.is_object() ? value.find("edits") : value.end();
  if (edits == value.end() || !edits->is_array())
    return Ruling::deny("bulkhead: not a workspace edit");
  for (const Json& edit : *edits) {
    bool named = false;
    for (const char* key : {"resource", "oldResource", "newResource"}) {
      const auto uri = edit.find(key);
      if (uri == edit.end() || uri->is_null()) continue;
      named = true;
      const Ruling ruling = decide_file(Kind::kWrite, *uri, method, may_block);
      if (!ruling.passes()) return ruling;
    }
    if (!named) return Ruling::deny("bulkhead: an edit that names no resource");
  }
  return Ruling::pass();
}

Broker::Ruling Broker::decide_external(const Json& value, const std::string& method,
                                       bool may_block) {
  const auto resource = parse_resource(value, remote_authority_);
  if (!resource) return Ruling::deny("bulkhead: not an address");
  const std::string scheme = lower(resource->scheme);
  if (scheme != "http" && scheme != "https" && scheme != "mailto") {
    arbiter_.note_refusal(Kind::kVscode, resource->scheme + ":" + resource->path,
                          "only http, https and mailto addresses are opened outside",
                          Attempt{0, 0, method, nullptr});
    return Ruling::deny("bulkhead: only http, https and mailto addresses can be opened");
  }
  return decide_permission("open-external", method + " " + resource->authority, may_block);
}

Broker::Ruling Broker::check(const Check& check, const Json& value, const Json& arguments,
                             const std::string& method, bool may_block) {
  const auto refuse = [&](const std::string& resource, const std::string& why) {
    arbiter_.note_refusal(Kind::kVscode, resource, why, Attempt{0, 0, method, nullptr});
    return Ruling::deny("bulkhead: " + why);
  };
  switch (check.kind) {
    case ArgumentKind::kUriRead:
      return decide_file(Kind::kRead, value, method, may_block);
    case ArgumentKind::kUriReadOrNone:
      if (value.is_null()) return Ruling::pass();
      return decide_file(Kind::kRead,
                         value.is_object() && value.contains("uri") ? value["uri"] : value, method,
                         may_block);
    case ArgumentKind::kUriStatus:
      return decide_file(Kind::kReadStatus, value, method, may_block);
    case ArgumentKind::kUriWrite:
      return decide_file(Kind::kWrite, value, method, may_block);
    case ArgumentKind::kUriRemove: {
      const Ruling ruling = decide_file(Kind::kWrite, value, method, may_block);
      if (!ruling.passes()) return ruling;
      const auto resource = parse_resource(value, remote_authority_);
      const auto canonical =
          resource && resource->is_file ? canonical_file(resource->path) : std::nullopt;
      if (canonical && arbiter_.policy().above_block(*canonical))
        return refuse(*canonical, "a blocked path lies in it");
      return Ruling::pass();
    }
    case ArgumentKind::kEditorRead:
    case ArgumentKind::kEditorWrite: {
      Json document;
      {
        const std::lock_guard lock(mutex_);
        if (const auto editor = editors_.find(text_of(value)); editor != editors_.end())
          document = editor->second;
      }
      if (document.is_null()) return Ruling::deny("bulkhead: no such editor");
      return decide_file(check.kind == ArgumentKind::kEditorRead ? Kind::kRead : Kind::kWrite,
                         document, method, may_block);
    }
    case ArgumentKind::kEdit:
      return decide_edit(value, method, may_block);
    case ArgumentKind::kExtension:
      if (own_extension(value)) return Ruling::pass();
      return refuse(value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 200),
                    "speaks for an extension that is not in this compartment");
    case ArgumentKind::kCommand:
      return decide_command(value, arguments, method, may_block);
    case ArgumentKind::kCommandId: {
      const std::string command = text_of(value);
      const auto known = options_.commands.find(command);
      if (known != options_.commands.end())
        return refuse(command, "takes over a command of the editor");
      const std::lock_guard lock(mutex_);
      registered_commands_.insert(command);
      return Ruling::pass();
    }
    case ArgumentKind::kSetting: {
      // A setting belongs to the extension whose name its key begins with; the editor's own ones
      // (tasks, terminals, git's path, trust) run programs.
      const std::string key = lower(text_of(value));
      for (const std::string& id : options_.extensions) {
        const std::string name = id.substr(id.find('.') + 1);
        if (key == name || key.starts_with(name + ".") || key.starts_with(id + "."))
          return Ruling::pass();
      }
      return decide_permission("settings-write-foreign", method + " " + key, may_block);
    }
    case ArgumentKind::kScheme: {
      const std::string scheme = text_of(value);
      if (is_reserved_scheme(scheme)) return refuse(scheme, "takes over a scheme of the editor");
      const std::lock_guard lock(mutex_);
      own_schemes_.insert(scheme);
      return Ruling::pass();
    }
    case ArgumentKind::kLogFile:
    case ArgumentKind::kLogResource: {
      const Json* uri = &value;
      if (check.kind == ArgumentKind::kLogResource && value.is_object() &&
          value.contains("resource"))
        uri = &value["resource"];
      const auto resource = parse_resource(*uri, remote_authority_);
      if (resource && resource->is_file && !logs_.empty() &&
          is_within(normalize(resource->path), logs_))
        return Ruling::pass();
      return refuse(resource ? resource->path : "?", "writes a log outside of its log folder");
    }
    case ArgumentKind::kExternal:
      return decide_external(value, method, may_block);
    case ArgumentKind::kTask:
    case ArgumentKind::kTerminal:
    case ArgumentKind::kDebugConfiguration:
    case ArgumentKind::kEnvironment:
      // What these start runs outside of the compartment: the permission of the method is the
      // decision, and review says what it means.
      return Ruling::pass();
    case ArgumentKind::kWebviewOptions:
    case ArgumentKind::kWebviewInit: {
      const Json& options = check.kind == ArgumentKind::kWebviewInit && value.is_object() &&
                                    value.contains("webviewOptions")
                                ? value["webviewOptions"]
                                : value;
      if (!options.is_object()) return Ruling::pass();
      if (const auto ports = options.find("portMapping");
          ports != options.end() && !ports->empty()) {
        const Ruling ruling = decide_permission("tunnels", method, may_block);
        if (!ruling.passes()) return ruling;
      }
      const auto roots = options.find("localResourceRoots");
      if (roots == options.end() || !roots->is_array()) return Ruling::pass();
      for (const Json& root : *roots) {
        const Ruling ruling = decide_file(Kind::kRead, root, method, may_block);
        if (!ruling.passes()) return ruling;
      }
      return Ruling::pass();
    }
  }
  return Ruling::deny("bulkhead: unknown check");
}

Broker::Ruling Broker::judge(const RpcRequest& request, bool may_block) {
  const std::string actor = request.proxy >= 1 && request.proxy <= options_.actors.size()
                                ? options_.actors[request.proxy - 1U]
                                : std::string();
  const std::string method = fmt::format(
      "{}.{}", actor.empty() ? fmt::format("actor {}", request.proxy) : actor, request.method);
  const MethodRule* rule = table_.find(actor, request.method);
  const auto refuse = [&](const std::string& why) {
    arbiter_.note_refusal(Kind::kVscode, method, why, Attempt{0, 0, method, nullptr});
    return Ruling::deny(fmt::format("bulkhead: {} ({})", why, method));
  };
  if (rule == nullptr) return refuse("nobody has classified this method");
  if (rule->way == MethodRule::Way::kQuiet) return Ruling::quiet();
  if (rule->way == MethodRule::Way::kRefuse)
    return refuse("no extension in a compartment may call this");
  if (rule->way == MethodRule::Way::kPermission) {
    const Ruling ruling = decide_permission(rule->permission, method, may_block);
    if (!ruling.passes()) return ruling;
  }
  if (rule->checks.empty()) return Ruling::pass();
  const Json arguments = arguments_of(request);
  if (!arguments.is_array()) return refuse("its arguments cannot be read");
  for (const Check& each : rule->checks) {
    const Ruling ruling = check(each, at(arguments, each.argument), arguments, method, may_block);
    if (!ruling.passes()) return ruling;
  }
  return Ruling::pass();
}

void Broker::act(const RpcRequest& request, Bytes body, const Ruling& ruling, Outbox& outbox) {
  switch (ruling.way) {
    case Ruling::Way::kPass: {
      if (request.method == "$startFileSearch") {
        const std::lock_guard lock(mutex_);
        searches_.insert(request.number);
      }
      // Only requests whose arguments were judged hold URIs that matter; their cached spellings go.
      const std::string_view raw(reinterpret_cast<const char*>(body.data()), body.size());
      if (raw.find("\"fsPath\"") == std::string_view::npos &&
          raw.find("\"external\"") == std::string_view::npos) {
        outbox.to_workbench(copy(body));
        return;
      }
      RpcRequest changed = request;
      std::vector<std::string> texts;
      texts.reserve(request.arguments.size() + 1);
      const auto strip = [&](std::string_view text) -> std::string_view {
        Json value = Json::parse(text, nullptr, false);
        if (value.is_discarded() || strip_cached_spellings(value) == 0) return text;
        texts.push_back(value.dump());
        return texts.back();
      };
      if (!request.mixed) changed.json = strip(request.json);
      for (RpcArgument& argument : changed.arguments)
        if (!argument.json.empty()) argument.json = strip(argument.json);
      outbox.to_workbench(write_request(changed));
      return;
    }
    case Ruling::Way::kQuiet:
      outbox.to_host(acknowledgement(request.number));
      outbox.to_host(empty_reply(request.number));
      return;
    case Ruling::Way::kDeny:
    case Ruling::Way::kAsk:
      outbox.to_host(acknowledgement(request.number));
      outbox.to_host(error_reply(request.number, ruling.error_name, ruling.message));
      return;
  }
}

Status Broker::from_host(Bytes body, Outbox& outbox) {
  if (body.size() ==
      1) {  // "ready", "initialised"; a host has no business ending the window's side
    if (body[0] <= 1) outbox.to_workbench(copy(body));
    return {};
  }
  if (!initialised_) return Error{"the extension host spoke before it was initialised"};
  BULKHEAD_TRY(const RpcMessage message, parse_rpc(body));
  const auto* request = std::get_if<RpcRequest>(&message);
  if (request == nullptr) {
    outbox.to_workbench(copy(body));
    return {};
  }
  Ruling ruling = judge(*request, false);
  if (ruling.way != Ruling::Way::kAsk) {
    act(*request, body, ruling, outbox);
    return {};
  }
  // A person decides: this request waits on a thread of its own, all others go on.
  const std::lock_guard lock(mutex_);
  if (stopping_) return {};
  std::erase_if(asking_, [](const Asking& each) { return each.done->load(); });
  if (asking_.size() >= kMaxAsking) {
    ruling = Ruling::deny("bulkhead: too many open questions");
    act(*request, body, ruling, outbox);
    return {};
  }
  auto done = std::make_shared<std::atomic<bool>>(false);
  asking_.push_back(Asking{done, std::jthread([this, done, held = copy(body), &outbox] {
                             if (const auto again = parse_rpc(held); again.ok()) {
                               const auto& waiting = std::get<RpcRequest>(*again);
                               act(waiting, held, judge(waiting, true), outbox);
                             }
                             done->store(true);
                           })});
  return {};
}

// ---------------------------------------------------------------------------------- incoming

bool Broker::may_read(const Json& uri) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  if (!resource->is_file) return true;  // its content comes from somebody who decided to show it
  const auto canonical = canonical_file(resource->path);
  if (!canonical) return false;
  // A file that the user opened is no reason to ask: what would be asked is withheld.
  return arbiter_.policy().decide_path(Kind::kRead, *canonical).verdict == Verdict::kAllow;
}

Status Broker::initialise(Bytes body, Outbox& outbox) {
  Json data = Json::parse(body.begin(), body.end(), nullptr, false);
  if (!data.is_object()) return Error{"the workbench's first message is no initialisation data"};
  if (const auto remote = data.find("remote"); remote != data.end() && remote->is_object())
    remote_authority_ = text_of(remote->value("authority", Json()));
  if (const auto logs = data.find("logsLocation"); logs != data.end()) {
    if (const auto resource = parse_resource(*logs, remote_authority_))
      logs_ = normalize(resource->path);
  }
  // The host polls this process and ends when it cannot signal it; it cannot, from inside.
  data["parentPid"] = 0;
  initialised_ = true;
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  outbox.to_host(std::vector<uint8_t>(text.begin(), text.end()));
  return {};
}

bool Broker::names_withheld(const Json& value, int depth) {
  if (depth > 30) return true;
  if (value.is_object() && value.contains("$mid") && value["$mid"] == 1) return !may_read(value);
  if (value.is_structured())
    for (const Json& child : value)
      if (names_withheld(child, depth + 1)) return true;
  return false;
}

bool Broker::filter_documents(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  Json& delta = arguments.at(0);
  const auto keep = [&](const char* list, const char* key) {
    if (!delta.contains(list) || !delta[list].is_array()) return;
    Json kept = Json::array();
    for (Json& each : delta[list])
      if (each.is_object() && each.contains(key) && may_read(each[key]))
        kept.push_back(std::move(each));
    delta[list] = std::move(kept);
  };
  keep("addedDocuments", "uri");
  keep("addedEditors", "documentUri");
  if (delta.contains("removedDocuments") && delta["removedDocuments"].is_array()) {
    Json kept = Json::array();
    for (Json& uri : delta["removedDocuments"])
      if (may_read(uri)) kept.push_back(std::move(uri));
    delta["removedDocuments"] = std::move(kept);
  }
  if (delta.contains("addedEditors"))
    for (const Json& editor : delta["addedEditors"])
      editors_[text_of(editor.value("id", Json()))] = editor["documentUri"];
  if (delta.contains("removedEditors") && delta["removedEditors"].is_array()) {
    Json kept = Json::array();
    for (Json& id : delta["removedEditors"])
      if (editors_.erase(text_of(id)) > 0) kept.push_back(std::move(id));
    delta["removedEditors"] = std::move(kept);
  }
  if (delta.contains("newActiveEditor") && delta["newActiveEditor"].is_string() &&
      !editors_.contains(text_of(delta["newActiveEditor"])))
    delta["newActiveEditor"] = nullptr;
  RpcRequest changed = request;
  const std::string text = arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
  changed.json = text;
  outbox.to_host(write_request(changed));
  return true;
}

bool Broker::filter_incoming(const RpcRequest& request, Outbox& outbox) {
  if (request.mixed) return false;
  const std::string_view method = request.method;
  const bool documents = method == "$acceptDocumentsAndEditorsDelta";
  const bool markers = method == "$acceptMarkersChange";
  const bool about_document =
      method.starts_with("$acceptModel") || method.starts_with("$acceptDirtyState") ||
      method.starts_with("$acceptEncoding") || method.starts_with("$provide") ||
      method.starts_with("$prepare") || method.starts_with("$resolve") ||
      method.starts_with("$participateInSave");
  if (!documents && !markers && !about_document) return false;
  Json arguments = Json::parse(request.json, nullptr, false);
  if (!arguments.is_array() || arguments.empty()) return false;
  const std::lock_guard lock(mutex_);
  if (documents) return arguments[0].is_object() && filter_documents(request, arguments, outbox);
  if (markers) {
    Json kept = Json::array();
    if (arguments[0].is_array())
      for (Json& pair : arguments[0])
        if (pair.is_array() && !pair.empty() && may_read(pair[0])) kept.push_back(std::move(pair));
    arguments[0] = std::move(kept);
    RpcRequest changed = request;
    const std::string text = arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
    changed.json = text;
    outbox.to_host(write_request(changed));
    return true;
  }
  if (!names_withheld(arguments, 0)) return false;
  outbox.to_workbench(acknowledgement(request.number));
  outbox.to_workbench(empty_reply(request.number));
  return true;
}

Status Broker::from_workbench(Bytes body, Outbox& outbox) {
  if (body.size() == 1) {
    outbox.to_host(copy(body));
    return {};
  }
  if (!initialised_) return initialise(body, outbox);
  BULKHEAD_TRY(const RpcMessage message, parse_rpc(body));
  if (const auto* request = std::get_if<RpcRequest>(&message)) {
    if (filter_incoming(*request, outbox)) return {};
  } else if (const auto* reply = std::get_if<RpcReply>(&message)) {
    bool search = false;
    {
      const std::lock_guard lock(mutex_);
      search = searches_.erase(reply->number) > 0;
    }
    if (search && reply->type == RpcType::kReplyOkJson) {
      Json found = Json::parse(reply->json, nullptr, false);
      if (found.is_array()) {
        Json kept = Json::array();
        for (Json& uri : found)
          if (may_read(uri)) kept.push_back(std::move(uri));
        RpcReply changed = *reply;
        const std::string text = kept.dump(-1, ' ', false, Json::error_handler_t::replace);
        changed.json = text;
        outbox.to_host(write_reply(changed));
        return {};
      }
    }
  }
  outbox.to_host(copy(body));
  return {};
}

}  // namespace bulkhead
