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
  // What a person writes below a remark, by the extension that it is for:
  // "/me.mine/commentinput-…".
  if (scheme == "comment") {
    const std::string_view path =
        std::string_view(resource->path).substr(resource->path.empty() ? 0 : 1);
    return own_extension(Json(std::string(path.substr(0, path.find('/')))));
  }
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

// By the name alone: a thousand come at once, and a link tells no more than its own name.
bool Broker::may_know(const Json& uri) const {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  if (!resource->is_file && !stands_for_file(lower_case(resource->scheme))) return true;
  const std::string path = normalize(resource->path);
  return !is_elsewhere(path) && arbiter_.would_allow(Kind::kRead, path);
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

bool Broker::filter_terminal(const RpcRequest& request, Outbox& outbox) {
  const bool opened = request.method == "$acceptTerminalOpened";
  std::vector<std::vector<uint8_t>> changed;
  RpcRequest current = request;
  for (const size_t index : opened ? std::vector<size_t>{3} : std::vector<size_t>{0, 1}) {
    auto without = with_argument(current, index, [&](Json& started) {
      if (!started.is_object()) return;
      started.erase("env");
      if (opened) started.erase("args");
    });
    // A profile that there is not; what a terminal was opened with is always there.
    if (!without && !opened) continue;
    if (!without) {
      withhold(request, outbox);
      return true;
    }
    changed.push_back(std::move(*without));
    current = std::get<RpcRequest>(*parse_rpc(changed.back()));
  }
  outbox.to_host(write_request(current));
  return true;
}

bool Broker::filter_environment(const RpcRequest& request, Outbox& outbox) {
  auto changed = with_argument(request, 0, [this](Json& collections) {
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

bool Broker::filter_files(const RpcRequest& request, Json& event, Outbox& outbox) {
  bool some = false;
  size_t taken = 0;
  for (const char* key : {"created", "changed", "deleted"}) {
    const auto list = event.is_object() ? event.find(key) : event.end();
    if (list == event.end() || !list->is_array()) continue;
    Json kept = Json::array();
    for (Json& uri : *list)
      if (may_know(uri)) kept.push_back(std::move(uri));
    taken += list->size() - kept.size();
    some = some || !kept.empty();
    *list = std::move(kept);
  }
  if (taken == 0) return false;
  if (!some) {
    withhold(request, outbox);
    return true;
  }
  RpcRequest changed = request;
  const std::string text = dumped(Json::array({std::move(event)}));
  changed.json = text;
  outbox.to_host(write_request(changed));
  return true;
}

// A tab stays in its place, so that what is told of the others fits; what it shows does not come
// in.
size_t Broker::mask_tabs(Json& value, int depth) {
  if (depth > 30 || !value.is_structured()) return 0;
  const auto input = value.is_object() ? value.find("input") : value.end();
  if (input == value.end()) {
    size_t masked = 0;
    for (Json& each : value) masked += mask_tabs(each, depth + 1);
    return masked;
  }
  const std::function<bool(const Json&, int)> known = [&](const Json& part, int below) -> bool {
    if (below > 30) return false;
    if (is_uri(part)) return may_know(part);
    return !part.is_structured() || std::all_of(part.begin(), part.end(), [&](const Json& each) {
      return known(each, below + 1);
    });
  };
  if (known(*input, depth)) return 0;
  constexpr int kUnknownInput = 0;
  *input = Json{{"kind", kUnknownInput}};
  value["label"] = "";
  if (masked_tabs_.size() >= kMaxAnswered) masked_tabs_.clear();
  const std::string next = fmt::format("bulkhead-{}", masked_tabs_.size());
  value["id"] = masked_tabs_.emplace(text_of(value.value("id", Json())), next).first->second;
  return 1;
}

bool Broker::filter_tabs(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  if (mask_tabs(arguments, 0) == 0) return false;
  RpcRequest changed = request;
  const std::string text = dumped(arguments);
  changed.json = text;
  outbox.to_host(write_request(changed));
  return true;
}

bool Broker::filter_incoming(const RpcRequest& request, Outbox& outbox) {
  using Way = ToldRule::Way;
  const std::string actor = actor_of(request);
  const ToldRule* rule = table_.find_told(actor, request.method);
  const auto refuse = [&](const std::string& why) {
    const std::string method = fmt::format("{}.{}", actor, request.method);
    arbiter_.note_refusal(Kind::kVscode, method, why, Attempt{0, 0, method, nullptr});
    refuse_told(request, fmt::format("bulkhead: {} ({})", why, method), outbox);
    return true;
  };
  const auto only_if = [&](bool comes_in) {
    if (!comes_in) withhold(request, outbox);
    return !comes_in;
  };
  if (rule == nullptr) return refuse("nobody has classified what the workbench says here");
  bool all = false;  // its arguments are built, not only those that name resources
  switch (rule->way) {
    case Way::kFree:
      return false;
    case Way::kPermission:
      return only_if(granted(rule->permission));
    case Way::kGit:
      return only_if(own_extension(Json("vscode.git")));
    case Way::kQuiet:
      return only_if(false);
    case Way::kRefuse:
      return refuse("no extension in a compartment is asked this");
    case Way::kStatusItem:
    case Way::kStatusItems:
      return filter_status_items(request, outbox);
    case Way::kTerminal:
      return filter_terminal(request, outbox);
    case Way::kEnvironment:
      return filter_environment(request, outbox);
    case Way::kResources:
    case Way::kEdits:
      break;
    case Way::kDocuments:
    case Way::kMarkers:
    case Way::kEditor:
    case Way::kTabs:
    case Way::kFiles:
    case Way::kSettings:
    case Way::kSecret:
    case Way::kRenderer:
      all = true;
  }
  // Mixed where an argument is undefined, as a hover's context is.
  Json arguments = arguments_of(request, [&](size_t, std::string_view text) {
    return all || holds(text, "\"$mid\"");  // as the workbench marks its resources
  });
  // What cannot be read cannot be judged; what is written anew is never mixed.
  const bool written = rule->way == Way::kDocuments || rule->way == Way::kMarkers ||
                       rule->way == Way::kTabs || rule->way == Way::kFiles ||
                       rule->way == Way::kSettings;
  if (!arguments.is_array() || (request.mixed && written)) return only_if(false);
  if (arguments.empty()) return false;
  switch (rule->way) {
    case Way::kSettings:
      return filter_settings(request, arguments, outbox);
    case Way::kFiles:
      return filter_files(request, arguments[0], outbox);
    case Way::kSecret:
      return only_if(arguments[0].is_object() &&
                     own_extension(arguments[0].value("extensionId", Json())));
    case Way::kRenderer:
      return only_if(knows(own_views_, "renderer/" + text_of(at(arguments, 1))));
    default:
      break;
  }
  const std::lock_guard lock(mutex_);
  if (rule->way == Way::kTabs) return filter_tabs(request, arguments, outbox);
  if (rule->way == Way::kDocuments)
    return arguments[0].is_object() && filter_documents(request, arguments, outbox);
  if (rule->way == Way::kMarkers) {
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
  if (rule->way == Way::kEditor && !editors_.contains(text_of(arguments[0]))) return only_if(false);
  const bool writable =
      rule->way != Way::kEdits || std::all_of(arguments.begin(), arguments.end(), [&](Json& each) {
        return !each.is_object() || !each.contains("$mid") || may_write(each);
      });
  return only_if(writable && !names_withheld(arguments, 0));
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
