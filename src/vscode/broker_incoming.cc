// What the broker takes out of what the workbench tells a host.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/path.h"
#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

bool Broker::is_elsewhere(std::string_view canonical) const {
  return arbiter_.enforcement() != Enforcement::kAuditOnly &&
         arbiter_.policy().in_scratch(canonical);
}

bool Broker::may_read(const Json& uri) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  const std::string scheme = lower_case(resource->scheme);
  if (is_editors_own(scheme)) return false;
  // Everything else comes from an extension that decided to show it.
  if (!resource->is_file && !stands_for_file(scheme)) return true;
  const auto canonical = canonical_file(resource->path);
  if (!canonical || is_elsewhere(*canonical)) return false;
  // A file that the user opened is no reason to ask: what would be asked is withheld.
  return answered_.contains(*canonical) || arbiter_.would_allow(Kind::kRead, *canonical);
}

bool Broker::may_write(const Json& uri) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  if (!resource->is_file) return true;  // of an extension that decides itself, or of nobody yet
  const auto canonical = canonical_file(resource->path);
  return canonical && !is_elsewhere(*canonical) && arbiter_.would_allow(Kind::kWrite, *canonical);
}

// An extension that there is, in this host or elsewhere.
void Broker::learn_extension(const Json& description) {
  if (!description.is_object()) return;
  const Json identifier = description.value("identifier", Json());
  const std::string id =
      lower_case(text_of(identifier.is_object() ? identifier.value("value", Json()) : Json()));
  const bool is_builtin = description.value("isBuiltin", Json()) == true;
  const std::lock_guard lock(mutex_);
  const bool is_own = own_extension(identifier);
  DeclaredParts parts = declared_parts(description);
  (is_own ? own_views_ : others_parts_).merge(parts.views);
  if (!is_own) {
    others_parts_.merge(parts.others);
    for (std::string& command : declared_commands(description)) {
      others_families_[command_family(command)] |= is_builtin;
      others_declared_.insert(std::move(command));
    }
  }
  // Settings of a built-in extension are the editor's, wherever it runs.
  if (is_builtin) {
    foreign_settings_.add_builtin(description);
  } else if (!is_own) {
    foreign_settings_.add(id, description);
  } else {
    foreign_settings_.keep(description);
    for (std::string& command : declared_commands(description))
      declared_.insert(std::move(command));
    own_families_.insert({id.substr(0, id.find('.')), id.substr(id.find('.') + 1)});
    const std::string title = text_of(description.value("displayName", Json()));
    names_[id] = title.empty() ? text_of(description.value("name", Json())) : title;
  }
}

Status Broker::initialise(Bytes body, Outbox& outbox) {
  const Json data = Json::parse(body.begin(), body.end(), nullptr, false);
  if (!data.is_object()) return Error{"the workbench's first message is no initialisation data"};
  if (const auto remote = data.find("remote"); remote != data.end() && remote->is_object())
    remote_authority_ = text_of(remote->value("authority", Json()));
  if (const auto logs = data.find("logsLocation"); logs != data.end()) {
    if (const auto resource = parse_resource(*logs, remote_authority_))
      logs_ = normalize(resource->path);
  }
  if (const auto extensions = data.find("extensions"); extensions != data.end() &&
                                                       extensions->is_object() &&
                                                       extensions->contains("allExtensions")) {
    for (const Json& each : (*extensions)["allExtensions"]) learn_extension(each);
  }
  initialised_ = true;
  outbox.to_host(copy(body));
  return {};
}

namespace {

bool is_uri(const Json& value) {
  return value.is_object() && value.contains("$mid") && value["$mid"] == 1;
}

}  // namespace

bool Broker::names_withheld(const Json& value, int depth) {
  if (depth > 30) return true;
  if (is_uri(value)) return !may_read(value);
  if (value.is_structured())
    for (const Json& child : value)
      if (names_withheld(child, depth + 1)) return true;
  return false;
}

// Takes out of lists what tells of a file that may not be read: symbols, places, edits. False where
// the value itself does.
bool Broker::leave_readable(Json& value, int depth) {
  if (depth > 30) return false;
  if (is_uri(value)) return may_read(value);
  // Not those that hold a resource beside something of it.
  if (value.is_array() && (std::all_of(value.begin(), value.end(), is_uri) ||
                           std::none_of(value.begin(), value.end(), is_uri))) {
    Json kept = Json::array();
    for (Json& each : value)
      if (leave_readable(each, depth + 1)) kept.push_back(std::move(each));
    value = std::move(kept);
    return true;
  }
  if (value.is_structured())
    for (Json& each : value)
      if (!leave_readable(each, depth + 1)) return false;
  return true;
}

void Broker::give_found(const RpcReply& reply, Found found, Outbox& outbox) {
  RpcReply changed = reply;
  // Whether there was more tells of files that were left out.
  std::string text = R"({"limitHit":false})";
  if (found != Found::kText) {
    if (found == Found::kAnything && !may_name(reply.json, {"$mid"})) {
      outbox.to_host(write_reply(reply));
      return;
    }
    Json value = is_moderate(reply.json) ? Json::parse(reply.json, nullptr, false)
                                         : Json(Json::value_t::discarded);
    const std::lock_guard lock(mutex_);
    if (value.is_discarded() || !leave_readable(value, 0)) value = nullptr;
    text = dumped(value);
  }
  changed.json = text;
  outbox.to_host(write_reply(changed));
}

bool Broker::filter_documents(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  Json& delta = arguments.at(0);
  const auto list_of = [&](const char* name) {
    const auto list = delta.find(name);
    return list != delta.end() && list->is_array() ? *list : Json::array();
  };
  for (const Json& editor : list_of("addedEditors"))
    if (editor.is_object())
      all_editors_[text_of(editor.value("id", Json()))] = editor.value("documentUri", Json());
  for (const Json& id : list_of("removedEditors")) all_editors_.erase(text_of(id));
  if (const auto active = delta.find("newActiveEditor"); active != delta.end()) {
    const auto editor = all_editors_.find(text_of(*active));
    active_ = editor == all_editors_.end() ? Json() : editor->second;
  }
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
  const std::string text = dumped(arguments);
  changed.json = text;
  outbox.to_host(write_request(changed));
  return true;
}

// Ids of status items come back as the host knows them; others' items stay outside.
bool Broker::filter_status_items(const RpcRequest& request, Outbox& outbox) {
  Json arguments = arguments_of(request, [](size_t i) { return i == 0; });
  if (!arguments.is_array() || arguments.empty() || request.mixed) {
    withhold(request, outbox);
    return true;
  }
  Json& first = arguments[0];
  if (request.method == "$provideTooltip") {
    const std::string id = text_of(first);
    if (id.starts_with(host_prefix())) first = id.substr(host_prefix().size());
  } else {
    Json kept = Json::array();
    if (first.is_array())
      for (Json& each : first)
        if (each.is_object() && is_own_status_item(text_of(each.value("entryId", Json()))))
          kept.push_back(std::move(each));
    first = std::move(kept);
  }
  RpcRequest changed = request;
  const std::string text = dumped(arguments);
  changed.json = text;
  outbox.to_host(write_request(changed));
  return true;
}

bool Broker::filter_settings(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  ForeignSettings::Withheld withheld;
  std::string contested;
  Json& data = arguments[0];
  const Json whole = data;
  {
    const std::lock_guard lock(mutex_);
    foreign_settings_.learn(data);
    withheld = foreign_settings_.withhold(data);
    for (const std::string& key : withheld.contested) {
      if (contested.size() > 200) {
        contested += ", …";
        break;
      }
      contested += fmt::format("{}{} ({})", contested.empty() ? "" : ", ", key,
                               fmt::join(foreign_settings_.contested().at(key), ", "));
    }
  }
  if (!contested.empty()) {
    constexpr std::string_view kShared = "settings-shared";
    const std::string why = "other extensions declare these settings too: " + contested;
    const Attempt attempt{0, 0, why, nullptr};
    switch (arbiter_.vscode(kShared, attempt, false)) {
      case Arbiter::Ruling::kAllow: {
        const std::lock_guard lock(mutex_);
        data = whole;
        foreign_settings_.share();
        withheld = foreign_settings_.withhold(data);
        break;
      }
      case Arbiter::Ruling::kWouldAsk:
        if (!told_contested_) arbiter_.note_refusal(Kind::kVscode, kShared, why, attempt);
        told_contested_ = true;
        break;
      case Arbiter::Ruling::kDeny:
        break;
    }
  }
  if (!withheld.changed) return false;
  RpcRequest changed = request;
  const std::string text = dumped(arguments);
  changed.json = text;
  outbox.to_host(write_request(changed));
  return true;
}

namespace {

// What every host is told of a person's own work, and the permission that it takes to hear it.
std::string_view heard_with(std::string_view method) {
  if (method.starts_with("$shellE") || method == "$cwdChange" ||
      method == "$acceptTerminalSelection")
    return "terminal-read";
  if (method.starts_with("$acceptDebugSession") || method == "$acceptBreakpointsDelta" ||
      method == "$acceptStackFrameFocus")
    return "debug";
  if (method.starts_with("$onDidStartTask") || method.starts_with("$onDidEndTask") ||
      method == "$OnDidEndTask")
    return "tasks";
  return method == "$publishTestResults" ? "testing" : "";
}

}  // namespace

bool Broker::filter_own_work(const RpcRequest& request, Outbox& outbox) {
  const std::string_view method = request.method;
  const std::string_view needs = heard_with(method);
  const bool connection = method == "$updateRemoteConnectionData";  // it holds the server's token
  const bool opened = method == "$acceptTerminalOpened";
  const bool variables = method == "$initEnvironmentVariableCollections";
  if (needs.empty() && !connection && !opened && !variables) return false;
  if (!needs.empty() && granted(needs)) return false;
  std::optional<std::vector<uint8_t>> changed;
  if (opened)  // by whom and with what it was started
    changed = with_argument(request, 3, [](Json& started) {
      if (!started.is_object()) return;
      for (const char* secret : {"env", "args"}) started.erase(secret);
    });
  if (variables)  // that other extensions give to terminals
    changed = with_argument(request, 0, [this](Json& collections) {
      Json own = Json::array();
      if (collections.is_array())
        for (Json& each : collections)
          if (each.is_array() && !each.empty() && own_extension(each[0]))
            own.push_back(std::move(each));
      collections = std::move(own);
    });
  if (changed)
    outbox.to_host(std::move(*changed));
  else
    withhold(request, outbox);
  return true;
}

bool Broker::filter_incoming(const RpcRequest& request, Outbox& outbox) {
  const std::string_view method = request.method;
  if (filter_own_work(request, outbox)) return true;
  const bool documents = method == "$acceptDocumentsAndEditorsDelta";
  const bool markers = method == "$acceptMarkersChange";
  const bool about_document =
      method.starts_with("$acceptModel") || method.starts_with("$acceptDirtyState") ||
      method.starts_with("$acceptEncoding") || method.starts_with("$provide") ||
      method.starts_with("$prepare") || method.starts_with("$resolve") ||
      method.starts_with("$participateInSave") || method.starts_with("$acceptNotebook") ||
      method == "$handleTextSearchResult" || method == "$acceptDocumentAndEditorsDelta";
  const bool settings =
      method == "$initializeConfiguration" || method == "$acceptConfigurationChanged";
  if (method == "$provideTooltip" || method == "$acceptStaticEntries")
    return filter_status_items(request, outbox);
  if (!documents && !markers && !about_document && !settings) return false;
  // Mixed where an argument is undefined, as a hover's context is.
  Json arguments = arguments_of(request, [&](size_t, std::string_view text) {
    return !about_document || holds(text, "\"$mid\"");  // as the workbench marks its resources
  });
  // What cannot be read cannot be judged; the first two are never mixed.
  if (!arguments.is_array() || (request.mixed && (documents || markers || settings))) {
    withhold(request, outbox);
    return true;
  }
  if (arguments.empty()) return false;
  if (settings) return filter_settings(request, arguments, outbox);
  const std::lock_guard lock(mutex_);
  if (documents) return arguments[0].is_object() && filter_documents(request, arguments, outbox);
  if (markers) {
    Json kept = Json::array();
    if (arguments[0].is_array())
      for (Json& pair : arguments[0])
        if (pair.is_array() && !pair.empty() && may_read(pair[0])) kept.push_back(std::move(pair));
    arguments[0] = std::move(kept);
    RpcRequest changed = request;
    const std::string text = dumped(arguments);
    changed.json = text;
    outbox.to_host(write_request(changed));
    return true;
  }
  // The workbench makes these edits by itself, some when a file is saved.
  const bool edits = method.ends_with("FormattingEdits");
  const bool writable = !edits || std::all_of(arguments.begin(), arguments.end(), [&](Json& each) {
    return !each.is_object() || !each.contains("$mid") || may_write(each);
  });
  if (writable && !names_withheld(arguments, 0)) return false;
  withhold(request, outbox);
  return true;
}

// What the policy was made for can change while the host lives: then it has to start anew.
Status Broker::check_changes(const RpcRequest& request) {
  const bool delta = request.method == "$deltaExtensions";
  const bool folders =
      request.method == "$initializeWorkspace" || request.method == "$acceptWorkspaceData";
  if (!delta && !folders) return {};
  const Json arguments = arguments_of(request, [](size_t i) { return i == 0; });
  const Json& first = at(arguments, 0);
  if (delta) {
    if (first.is_object() && first.contains("toAdd") && first["toAdd"].is_array())
      for (const Json& each : first["toAdd"]) learn_extension(each);
    // Also an update of an extension that has not been started: other code, perhaps never reviewed.
    const auto added = first.is_object() ? first.find("myToAdd") : first.end();
    if (added != first.end() && !added->empty())
      return Error{"an extension was added to this host, which starts again for it", ERESTART};
    return {};
  }
  std::vector<std::string> paths;
  if (first.is_object() && first.contains("folders") && first["folders"].is_array()) {
    for (const Json& each : first["folders"]) {
      if (!each.is_object()) continue;
      const auto resource = parse_resource(each.value("uri", Json()), remote_authority_);
      if (resource && resource->is_file) paths.push_back(normalize(resource->path));
    }
  }
  return options_.on_folders ? options_.on_folders(paths) : Status{};
}

Status Broker::from_workbench(Bytes body, Outbox& outbox) {
  if (body.size() == 1) {
    outbox.to_host(copy(body));
    return {};
  }
  if (!initialised_) return initialise(body, outbox);
  BULKHEAD_TRY(const RpcMessage message, parse_rpc(body));
  BULKHEAD_TRY(const bool own, take_commands(message, outbox));
  if (own) return {};
  if (const auto* request = std::get_if<RpcRequest>(&message)) {
    BULKHEAD_CHECK(check_changes(*request));
    last_asked_ = std::max(last_asked_, request->number);
    if (const auto awaited = awaited_of(request->method)) {
      const std::lock_guard lock(mutex_);
      if (awaited_.size() >= kMaxAnswered) {  // it answers nothing
        withhold(*request, outbox);
        return {};
      }
      awaited_[request->number] = *awaited;
    }
    if (filter_incoming(*request, outbox)) return {};
  } else if (const auto* reply = std::get_if<RpcReply>(&message)) {
    forget(reply->number);
    std::optional<Found> found;
    {
      const std::lock_guard lock(mutex_);
      if (const auto search = searches_.find(reply->number); search != searches_.end()) {
        found = search->second;
        searches_.erase(search);
      }
    }
    if (found && !reply->json.empty() && reply->type != RpcType::kReplyError) {
      give_found(*reply, *found, outbox);
      return {};
    }
  }
  outbox.to_host(copy(body));
  return {};
}

}  // namespace bulkhead
