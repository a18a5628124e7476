// What the workbench tells a host: from its first message on, and what a policy lets come in.
#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/path.h"
#include "policy/links.h"
#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

bool Broker::is_elsewhere(const std::string& path, const std::string& canonical) const {
  if (arbiter_.enforcement() == Enforcement::kAuditOnly) return false;
  const auto of_process = [](const std::string& name) {
    return is_within(name, "/proc") || is_within(name, "/dev");
  };
  if (arbiter_.policy().in_scratch(canonical) || of_process(canonical)) return true;
  // "/dev/fd/3" leads to another file for each who follows it.
  const std::vector<std::string> names =
      path == canonical ? std::vector<std::string>() : names_on_the_way(path);
  return std::any_of(names.begin(), names.end(), of_process);
}

// Documents without a file: those that this host shows, those that a person has not saved yet, and
// what the editor wrote for everybody. Others show what the editor or another extension has put
// into them: code of a chat's answers, an earlier version of a file, what is typed into a box.
bool Broker::is_of_host(const Resource& resource) const {
  const std::string& scheme = resource.scheme;
  return scheme == "untitled" || is_public_of_editor(resource) ||
         (!others_schemes_.contains(scheme) &&
          (provides(own_file_systems_, scheme) || provides(own_documents_, scheme)));
}

namespace {

// The notebook whose cell a document is, where that is no file: a cell has its path, and its scheme
// as VS Code writes it at the end of the fragment (CellUri). nullopt for all others.
std::optional<Json> notebook_of_cell(const Resource& cell) {
  if (cell.scheme != "vscode-notebook-cell") return std::nullopt;
  const size_t mark = cell.fragment.find('s');
  if (mark == std::string::npos) return std::nullopt;
  const std::string written = cell.fragment.substr(mark + 1);
  std::string scheme(written.size(), '\0');
  size_t length = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(scheme.data()), scheme.size(),
                        written.data(), written.size(), nullptr, &length, nullptr,
                        sodium_base64_VARIANT_URLSAFE) != 0)
    return std::nullopt;
  scheme.resize(length);
  if (scheme.empty() || lower_case(scheme) == "file" || lower_case(scheme) == "vscode-remote" ||
      lower_case(scheme) == cell.scheme)
    return std::nullopt;
  return Json{{"scheme", scheme},
              {"authority", cell.authority},
              {"path", cell.path},
              {"query", cell.query}};
}

}  // namespace

bool Broker::may_read(const Json& uri) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  if (const auto notebook = notebook_of_cell(*resource)) return may_read(*notebook);
  const std::string scheme = lower_case(resource->scheme);
  if (is_editors_own(scheme)) return false;
  // What a person writes below a remark, by the extension that it is for:
  // "/me.mine/commentinput-…".
  if (scheme == "comment") {
    const std::string_view path =
        std::string_view(resource->path).substr(resource->path.empty() ? 0 : 1);
    return own_extension(Json(std::string(path.substr(0, path.find('/')))));
  }
  if (!resource->is_file && !stands_for_file(scheme)) return is_of_host(*resource);
  if (!resource->is_file && !may_read_named(resource->query)) return false;
  const auto canonical = canonical_file(resource->path);
  if (!canonical || is_elsewhere(resource->path, *canonical)) return false;
  // A file that the user opened is no reason to ask: what would be asked is withheld.
  return answered_.contains(*canonical) || arbiter_.would_allow(Kind::kRead, *canonical);
}

// What stands for a file may be made of another one, which its query names.
bool Broker::may_read_named(const std::string& query) {
  Json named = parse_json(query);
  if (named.is_discarded()) {
    if (query.find_first_of("{[\"") != std::string::npos) return false;
    named = query;
  }
  return !anywhere(named, [&](const Json& one) {
    const auto uri =
        one.is_string()
            ? resource_text(one.get_ref<const std::string&>())
            : (one.is_object() && is_resource_like(one) ? std::optional(one) : std::nullopt);
    if (!uri) return false;
    const auto resource = parse_resource(*uri, remote_authority_);
    return !resource || !resource->is_file || !may_read(*uri);
  });
}

bool Broker::may_write(const Json& uri) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  if (const auto notebook = notebook_of_cell(*resource)) return may_write(*notebook);
  if (const auto file = file_to_be(*resource)) return may_write(*file);
  if (!resource->is_file && !stands_for_file(lower_case(resource->scheme)))
    return is_of_host(*resource);
  const auto canonical = canonical_file(resource->path);
  return canonical && !is_elsewhere(resource->path, *canonical) &&
         arbiter_.would_allow(Kind::kWrite, *canonical);
}

// By the name alone: a thousand come at once, and a link tells no more than its own name.
bool Broker::may_know(const Json& uri) const {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource) return false;
  if (const auto notebook = notebook_of_cell(*resource)) return may_know(*notebook);
  const std::string scheme = lower_case(resource->scheme);
  if (is_editors_own(scheme)) return false;
  if (!resource->is_file && !stands_for_file(scheme)) return is_of_host(*resource);
  const std::string path = normalize(resource->path);
  return !is_elsewhere(path, path) && arbiter_.would_allow(Kind::kRead, path);
}

// A file system that there is now, or no more. Whose it is nobody says: this host's, if it asked
// for it, also where that has ended it meanwhile. Where another one was first, the answer tells.
void Broker::learn_scheme(const RpcRequest& request) {
  const Json arguments = arguments_of(request, [](size_t) { return true; });
  const Json& uri = at(arguments, 0);
  const std::string scheme = uri.is_object() ? text_of(uri.value("scheme", Json())) : "";
  const std::lock_guard lock(mutex_);
  if (is_none(at(arguments, 1)))
    others_schemes_.erase(scheme);
  else if (!provides(own_file_systems_, scheme) &&
           std::none_of(registering_.begin(), registering_.end(),
                        [&](const auto& each) { return each.second.scheme == scheme; }))
    others_schemes_.insert(scheme);
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
  if (is_own && is_builtin) {
    builtin_views_.insert(parts.views.begin(), parts.views.end());
    const std::string name = id.substr(id.find('.') + 1);
    own_builtins_.insert(name.substr(0, name.find('-')));
    builtins_wakers_.merge(waking_commands(description));
  }
  (is_own ? own_views_ : others_parts_).merge(parts.views);
  if (!is_own) {
    others_parts_.merge(parts.others);
    // By these it is known in the Source Control and Timeline views, of which packages say nothing.
    if (id == "vscode.git") others_parts_.insert({"git", "git-history"});
    for (std::string& command : declared_commands(description)) {
      others_families_[command_family(command)] |= is_builtin;
      others_declared_.insert(std::move(command));
    }
  }
  learn_contexts(description, is_own, is_builtin);
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
    titles_[id] = title.empty() ? text_of(description.value("name", Json())) : title;
  }
}

Status Broker::initialise(Bytes body, Outbox& outbox) {
  const Json data = parse_json({reinterpret_cast<const char*>(body.data()), body.size()});
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
    Json value = parse_json(reply.json);
    const std::lock_guard lock(mutex_);
    if (value.is_discarded() || !leave_readable(value, 0)) value = nullptr;
    text = json_string(value);
  }
  changed.json = text;
  outbox.to_host(write_reply(changed));
}

// What the policy was made for can change while the host lives: then it has to start anew.
Status Broker::check_changes(const RpcRequest& request) {
  const bool delta = request.method == "$deltaExtensions";
  const bool folders =
      request.method == "$initializeWorkspace" || request.method == "$acceptWorkspaceData";
  if (!delta && !folders) return {};
  const Json arguments = arguments_of(request, [](size_t i) { return i == 0; });
  // It may tell of other code for an extension of this host's.
  if (!arguments.is_array())
    return Error{
        "the workbench told of extensions or folders what cannot be read; the host starts "
        "again",
        ERESTART};
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

namespace {

// The message where VS Code has cut a pair of surrogates in two, with a sign for each half: nothing
// else is longer or shorter by that. nullopt for all others.
std::optional<std::vector<uint8_t>> without_halves(const RpcMessage& message, Bytes body) {
  std::vector<uint8_t> whole;
  bool changed = false;
  const auto look = [&](std::string_view json) {
    if (!holds(json, "\\ud")) return;
    if (whole.empty()) whole = copy(body);
    const auto at = reinterpret_cast<const uint8_t*>(json.data()) - body.data();
    changed |= replace_halves({reinterpret_cast<char*>(whole.data() + at), json.size()});
  };
  if (const auto* request = std::get_if<RpcRequest>(&message)) {
    look(request->json);
    for (const RpcArgument& argument : request->arguments) look(argument.json);
  } else if (const auto* reply = std::get_if<RpcReply>(&message)) {
    look(reply->json);
  }
  if (!changed) return std::nullopt;
  return whole;
}

// Whether something came through to the host.
class Watched final : public Outbox {
 public:
  explicit Watched(Outbox& outbox) : outbox_(outbox) {}
  void to_host(std::vector<uint8_t> body) override {
    reached_ = true;
    outbox_.to_host(std::move(body));
  }
  void to_workbench(std::vector<uint8_t> body) override { outbox_.to_workbench(std::move(body)); }
  bool reached() const { return reached_; }

 private:
  Outbox& outbox_;
  bool reached_ = false;
};

}  // namespace

Status Broker::from_workbench(Bytes body, Outbox& outbox) {
  if (body.size() == 1) {
    outbox.to_host(copy(body));
    return {};
  }
  if (!initialised_) return initialise(body, outbox);
  BULKHEAD_TRY(const RpcMessage message, parse_rpc(body));
  if (const auto whole = without_halves(message, body)) return from_workbench(*whole, outbox);
  BULKHEAD_TRY(const bool own, take_commands(message, outbox));
  if (own) return {};
  if (const auto* request = std::get_if<RpcRequest>(&message)) {
    BULKHEAD_CHECK(check_changes(*request));
    const ToldRule* rule = table_.find_told(actor_of(*request), request->method);
    // Without them a host waits for good before it begins an extension: a folder's may be so.
    if (rule != nullptr && rule->way == ToldRule::Way::kSettings && !is_moderate(request->json))
      return Error{
          "the settings of this window are nested deeper, or more, than can be looked through "
          "(those of the folder too, in .vscode/settings.json)"};
    if (rule != nullptr &&
        (rule->way == ToldRule::Way::kAsked || rule->way == ToldRule::Way::kConfiguration)) {
      pass_asked(*request, *rule, body, false, outbox);
      return {};
    }
    std::optional<std::vector<uint8_t>> unmarked;
    {
      const std::lock_guard lock(mutex_);
      unanswered_[request->number] = awaited_of(*request, &unmarked);
    }
    Watched watched(outbox);
    if (!filter_incoming(*request, watched))
      watched.to_host(unmarked ? std::move(*unmarked) : copy(body));
    const std::lock_guard lock(mutex_);
    if (!watched.reached()) unanswered_.erase(request->number);
    if (unanswered_.size() > kMaxUnanswered)
      return Error{"the extension host answers nothing that it is asked"};
    return {};
  }
  if (const auto* signal = std::get_if<RpcSignal>(&message);
      signal != nullptr && knows(late_, signal->number))
    return {};
  if (const auto* reply = std::get_if<RpcReply>(&message)) {
    forget(reply->number);
    note_registered(*reply);
    note_judged(*reply);
    std::optional<Found> found;
    {
      const std::lock_guard lock(mutex_);
      if (const auto search = searches_.find(reply->number); search != searches_.end()) {
        found = search->second;
        searches_.erase(search);
      }
      if (late_.erase(reply->number) > 0) return {};
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
