// How the broker decides on one argument of a host's request, by what kind of argument it is.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/path.h"
#include "vscode/broker_parts.h"
#include "vscode/style_text.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

// An argument, with a decision for each kind.
struct Broker::Argument {
  Broker& broker;
  const Json& value;
  const Json& arguments;  // all of the request's
  size_t index;           // this one's among them
  const Asked& asked;

  // ---- files ----

  Ruling read() const { return broker.decide_file(Kind::kRead, value, asked); }
  Ruling read_if_any() const;
  Ruling status() const { return broker.decide_file(Kind::kReadStatus, value, asked); }
  Ruling folder() const { return broker.decide_file(Kind::kWrite, value, asked); }
  Ruling write() const { return broker.decide_written(value, asked); }
  Ruling remove() const { return broker.decide_removed(value, asked); }
  Ruling move() const { return broker.decide_moved(value, at(arguments, index + 1), asked); }
  Ruling nested_write() const { return broker.decide_written(member("uri"), asked); }
  Ruling editor_read() const;
  Ruling editor_write() const;
  Ruling edit() const { return broker.decide_edit(value, asked); }
  Ruling folders() const;
  Ruling log_file() const { return log_at(value); }
  Ruling log_resource() const;
  Ruling logger() const { return broker.decide_logger(value, asked); }
  Ruling webview_options() const { return page(value); }
  Ruling webview_init() const;

  // ---- what belongs to an extension ----

  Ruling extension() const;
  Ruling own_name() const;
  Ruling view() const;
  Ruling panel() const;
  Ruling notebook() const;
  Ruling renderer() const;
  Ruling debug_type() const;
  Ruling kernel() const;
  Ruling declared() const;
  Ruling sign_in() const;
  Ruling channel() const;
  Ruling context() const;
  Ruling vendor() const;
  Ruling session() const { return broker.decide_sessions(value, asked); }
  Ruling terminal() const;
  Ruling input_box() const;
  Ruling groups() const;
  Ruling changes() const;
  Ruling scheme() const;
  Ruling controller() const;
  Ruling tests() const { return broker.decide_tests(value, asked); }
  Ruling test_diff() const { return broker.decide_test_diff(value, asked); }
  Ruling test_run() const { return broker.decide_test_run(value, asked); }
  Ruling test_targets() const { return broker.decide_test_targets(value, asked); }
  Ruling own_run() const;

  // ---- what acts ----

  Ruling command() const;
  Ruling command_id() const;
  Ruling keys() const;
  Ruling setting() const;
  Ruling tool() const { return broker.decide_tool(member("toolId"), asked); }
  Ruling progress() const { return broker.decide_progress(value, asked); }
  Ruling viewer() const { return broker.decide_notebook_viewer(value, asked); }
  Ruling external() const { return broker.decide_external(value, asked); }
  Ruling tunnel() const;

  // ---- what is one of its kind at all ----

  Ruling style_name() const;
  Ruling number() const { return value.is_number() ? Ruling::pass() : refuse("is no number"); }
  Ruling text() const { return word().empty() ? refuse("is no name") : Ruling::pass(); }
  Ruling no_json() const;

  Ruling decide(ArgumentKind kind) const;

 private:
  // VS Code makes texts of what is none, "x" of ["x"]; here that is the empty text.
  std::string word() const { return text_of(value); }
  Json member(const char* key) const {
    return value.is_object() ? value.value(key, Json()) : Json();
  }
  // What goes by a name may be given as an object that has it.
  std::string name_or_id() const { return value.is_object() ? text_of(member("id")) : word(); }
  Ruling refuse(const char* why) const { return refuse(json_string(value).substr(0, 200), why); }
  Ruling refuse(const std::string& what, const char* why) const {
    return broker.refuse(asked, what, why);
  }
  Ruling own_part(const std::string& part, const char* why) const {
    return broker.owns_part(part) ? Ruling::pass() : refuse(word(), why);
  }
  std::optional<Json> editors_document() const;
  Ruling log_at(const Json& uri) const;
  Ruling page(const Json& options) const;
  // Whether `is` holds for one of this host's extensions.
  template <typename Is>
  bool of_own(const Is& is) const {
    const auto& own = broker.options_.extensions;
    return std::any_of(own.begin(), own.end(), is);
  }

  template <auto kMethod>
  static Ruling by(const Argument& argument) {
    return (argument.*kMethod)();
  }
  struct Row {
    ArgumentKind kind;
    Ruling (*decide)(const Argument&);
  };
  static const std::array<Row, 54> kRows;
};

// In the order of ArgumentKind.
constexpr std::array<Broker::Argument::Row, 54> Broker::Argument::kRows = {{
    {ArgumentKind::kUriRead, by<&Argument::read>},
    {ArgumentKind::kUriReadOrNone, by<&Argument::read_if_any>},
    {ArgumentKind::kUriStatus, by<&Argument::status>},
    {ArgumentKind::kUriWrite, by<&Argument::write>},
    {ArgumentKind::kUriRemove, by<&Argument::remove>},
    {ArgumentKind::kUriFolder, by<&Argument::folder>},
    {ArgumentKind::kUriMoved, by<&Argument::move>},
    {ArgumentKind::kEditorRead, by<&Argument::editor_read>},
    {ArgumentKind::kEditorWrite, by<&Argument::editor_write>},
    {ArgumentKind::kEdit, by<&Argument::edit>},
    {ArgumentKind::kExtension, by<&Argument::extension>},
    {ArgumentKind::kOwnName, by<&Argument::own_name>},
    {ArgumentKind::kCommand, by<&Argument::command>},
    {ArgumentKind::kCommandId, by<&Argument::command_id>},
    {ArgumentKind::kSetting, by<&Argument::setting>},
    {ArgumentKind::kView, by<&Argument::view>},
    {ArgumentKind::kPanel, by<&Argument::panel>},
    {ArgumentKind::kNotebook, by<&Argument::notebook>},
    {ArgumentKind::kDeclared, by<&Argument::declared>},
    {ArgumentKind::kSignIn, by<&Argument::sign_in>},
    {ArgumentKind::kChannel, by<&Argument::channel>},
    {ArgumentKind::kRenderer, by<&Argument::renderer>},
    {ArgumentKind::kKernel, by<&Argument::kernel>},
    {ArgumentKind::kDebugType, by<&Argument::debug_type>},
    {ArgumentKind::kController, by<&Argument::controller>},
    {ArgumentKind::kTests, by<&Argument::tests>},
    {ArgumentKind::kTestDiff, by<&Argument::test_diff>},
    {ArgumentKind::kTestRun, by<&Argument::test_run>},
    {ArgumentKind::kOwnRun, by<&Argument::own_run>},
    {ArgumentKind::kTestTargets, by<&Argument::test_targets>},
    {ArgumentKind::kTool, by<&Argument::tool>},
    {ArgumentKind::kProgress, by<&Argument::progress>},
    {ArgumentKind::kContext, by<&Argument::context>},
    {ArgumentKind::kSession, by<&Argument::session>},
    {ArgumentKind::kVendor, by<&Argument::vendor>},
    {ArgumentKind::kNestedWrite, by<&Argument::nested_write>},
    {ArgumentKind::kChanges, by<&Argument::changes>},
    {ArgumentKind::kTunnel, by<&Argument::tunnel>},
    {ArgumentKind::kFolders, by<&Argument::folders>},
    {ArgumentKind::kScheme, by<&Argument::scheme>},
    {ArgumentKind::kLogFile, by<&Argument::log_file>},
    {ArgumentKind::kLogResource, by<&Argument::log_resource>},
    {ArgumentKind::kLogger, by<&Argument::logger>},
    {ArgumentKind::kExternal, by<&Argument::external>},
    {ArgumentKind::kWebviewOptions, by<&Argument::webview_options>},
    {ArgumentKind::kWebviewInit, by<&Argument::webview_init>},
    {ArgumentKind::kOwnTerminal, by<&Argument::terminal>},
    {ArgumentKind::kScmInput, by<&Argument::input_box>},
    {ArgumentKind::kGroups, by<&Argument::groups>},
    {ArgumentKind::kStyleName, by<&Argument::style_name>},
    {ArgumentKind::kViewer, by<&Argument::viewer>},
    {ArgumentKind::kNumber, by<&Argument::number>},
    {ArgumentKind::kText, by<&Argument::text>},
    {ArgumentKind::kNoJson, by<&Argument::no_json>},
}};

Broker::Ruling Broker::Argument::decide(ArgumentKind kind) const {
  constexpr bool kInOrder = [] {
    for (size_t i = 0; i < kRows.size(); ++i)
      if (kRows[i].kind != static_cast<ArgumentKind>(i)) return false;
    return kRows.back().kind == ArgumentKind::kNoJson;
  }();
  static_assert(kInOrder, "a row for each kind, in their order");
  return kRows[static_cast<size_t>(kind)].decide(*this);
}

Broker::Ruling Broker::check(const Check& check, const Json& value, const Json& arguments,
                             const Asked& asked) {
  return Argument{*this, value, arguments, check.argument, asked}.decide(check.kind);
}

// ---- files ----

Broker::Ruling Broker::Argument::read_if_any() const {
  if (is_none(value)) return Ruling::pass();
  if (value.is_array()) {
    for (const Json& each : value)
      if (Ruling ruling = broker.decide_file(Kind::kRead, each, asked); !ruling.passes())
        return ruling;
    return Ruling::pass();
  }
  // VS Code reads one or the other of them: all that are there must be readable.
  bool named = false;
  for (const char* key : {"uri", "baseUri"}) {
    const auto nested = value.is_object() ? value.find(key) : value.end();
    if (nested == value.end()) continue;
    named = true;
    if (Ruling ruling = broker.decide_file(Kind::kRead, *nested, asked); !ruling.passes())
      return ruling;
  }
  return named && !is_resource_like(value) ? Ruling::pass() : read();
}

std::optional<Broker::Json> Broker::Argument::editors_document() const {
  const std::lock_guard lock(broker.mutex_);
  const auto editor = broker.editors_.find(word());
  if (editor == broker.editors_.end() || editor->second.is_null()) return std::nullopt;
  return editor->second;
}

Broker::Ruling Broker::Argument::editor_read() const {
  const auto document = editors_document();
  return document ? broker.decide_file(Kind::kRead, *document, asked)
                  : Ruling::deny("bulkhead: no such editor");
}

Broker::Ruling Broker::Argument::editor_write() const {
  const auto document = editors_document();
  return document ? broker.decide_written(*document, asked)
                  : Ruling::deny("bulkhead: no such editor");
}

Broker::Ruling Broker::Argument::folders() const {
  if (!value.is_array()) return refuse("is no list of folders");
  for (const Json& each : value) {
    const Json uri = each.is_object() ? each.value("uri", Json()) : Json();
    if (Ruling ruling = broker.decide_file(Kind::kRead, uri, asked); !ruling.passes())
      return ruling;
  }
  return Ruling::pass();
}

Broker::Ruling Broker::Argument::log_at(const Json& uri) const {
  const auto resource = parse_resource(uri, broker.remote_authority_);
  if (resource && resource->is_file && !broker.logs_.empty() &&
      is_within(normalize(resource->path), broker.logs_))
    return Ruling::pass();
  return refuse(resource ? resource->path : "?", "writes a log outside of its log folder");
}

Broker::Ruling Broker::Argument::log_resource() const {
  const auto nested = value.is_object() ? value.find("resource") : value.end();
  if (nested == value.end()) return log_at(value);
  if (Ruling ruling = log_at(*nested); !ruling.passes()) return ruling;
  return is_resource_like(value) ? log_at(value) : Ruling::pass();
}

Broker::Ruling Broker::Argument::webview_init() const {
  const auto options = value.is_object() ? value.find("webviewOptions") : value.end();
  return page(options == value.end() ? value : *options);
}

Broker::Ruling Broker::Argument::page(const Json& options) const {
  if (!options.is_object()) return Ruling::pass();
  if (const auto ports = options.find("portMapping"); ports != options.end() && !ports->empty())
    if (Ruling ruling = broker.decide_permission("tunnels", asked); !ruling.passes()) return ruling;
  const auto roots = options.find("localResourceRoots");
  if (roots == options.end() || !roots->is_array()) return Ruling::pass();
  for (const Json& root : *roots)
    if (Ruling ruling = broker.decide_file(Kind::kRead, root, asked); !ruling.passes())
      return ruling;
  return Ruling::pass();
}

// ---- what belongs to an extension ----

Broker::Ruling Broker::Argument::extension() const {
  if (broker.own_extension(value)) return Ruling::pass();
  return refuse("speaks for an extension that is not in this compartment");
}

Broker::Ruling Broker::Argument::own_name() const {
  if (broker.is_own_name(word())) return Ruling::pass();
  return refuse("is a name that does not begin with its own extension's");
}

// Ids are unique in a window, and who provides for one fills it, whoever declared it.
Broker::Ruling Broker::Argument::view() const {
  const std::string view = word();
  if (is_editors_family(view) && !broker.knows(broker.builtin_views_, view))
    return refuse(view, "shows something in a view that is not its own");
  return own_part(view, "shows something in a view that is not its own");
}

Broker::Ruling Broker::Argument::panel() const {
  return own_part("panel/" + word(),
                  "shows webviews of a type that its activationEvents do not name");
}

Broker::Ruling Broker::Argument::notebook() const {
  return own_part("notebook/" + word(), "reads notebooks of a type that is not its own");
}

Broker::Ruling Broker::Argument::renderer() const {
  return own_part("renderer/" + word(), "speaks to a renderer that is not its own");
}

Broker::Ruling Broker::Argument::debug_type() const {
  return own_part("debug/" + word(), "debugs programs of a type that is not its own");
}

// "publisher.name/id", by which notebooks remember it.
Broker::Ruling Broker::Argument::kernel() const {
  const std::string id = text_of(member("id"));
  const std::string whose = lower_case(id.substr(0, id.find('/')));
  if (id.size() > whose.size() && broker.own_extension(Json(whose)) &&
      broker.own_extension(member("extensionId")))
    return Ruling::pass();
  return refuse(id.substr(0, 200), "is no kernel of its own");
}

Broker::Ruling Broker::Argument::declared() const {
  // Elsewhere VS Code takes the object itself for the name.
  if (value.is_object() && !asked.method.ends_with("TimelineProvider")) return refuse("is no name");
  const std::string name = name_or_id();
  if (name.empty()) return refuse("is no name");
  // By a page's type packages tell where their menu items are: this one is all notebooks'.
  if (name == "notebook.output") return refuse(name, "takes over what is the editor's");
  if (!broker.knows(broker.others_parts_, name)) return Ruling::pass();
  return refuse(name, "takes over what another extension declares");
}

// Who comes last has it: the accounts of the window, and what a person types for them.
Broker::Ruling Broker::Argument::sign_in() const {
  const std::string name = name_or_id();
  if (broker.owns_part("authentication/" + name) && !broker.knows(broker.others_parts_, name))
    return Ruling::pass();
  return refuse(name, "is no way to sign in that its package.json declares");
}

// As VS Code makes them: "extension-output-publisher.name-#1-Label", and for logs
// "publisher.name.Label.log".
Broker::Ruling Broker::Argument::channel() const {
  const std::string id = lower_case(word());
  if (of_own([&](const std::string& own) {
        return id.starts_with("extension-output-" + own + "-#") || id.starts_with(own + ".");
      }))
    return Ruling::pass();
  return refuse(id.substr(0, 200), "speaks for an output channel that is not its own");
}

// "publisher.name-id", as VS Code makes them; another's name may begin with that.
Broker::Ruling Broker::Argument::context() const {
  const std::string id = lower_case(word());
  if (of_own([&](const std::string& own) { return id.starts_with(own + "-"); }) &&
      !broker.knows(broker.others_parts_, "chat-context/" + id))
    return Ruling::pass();
  return refuse(id.substr(0, 200), "speaks for what another extension declares");
}

Broker::Ruling Broker::Argument::vendor() const {
  if (broker.knows(broker.own_models_, word())) return Ruling::pass();
  return refuse("speaks for models that are not its own");
}

Broker::Ruling Broker::Argument::terminal() const {
  if (value.is_number_unsigned() && broker.knows(broker.own_terminals_, value.get<uint64_t>()))
    return Ruling::pass();
  return refuse("speaks for a terminal that is not its own");
}

// The workbench shows what stands in that document, and tells what a person writes there.
Broker::Ruling Broker::Argument::input_box() const {
  const auto resource = parse_resource(value, broker.remote_authority_);
  const std::string folder = text_of(at(arguments, 2)) + "/";
  if (resource && folder.size() > 1 && resource->scheme == "vscode-scm" &&
      (resource->path.starts_with(folder) || resource->path.starts_with("/" + folder)))
    return Ruling::pass();
  return refuse(resource ? resource->scheme + ":" + resource->path : "?",
                "is no input box of its source control");
}

// A tab is named by what it was told as, which of our pages is nothing that the workbench knows.
Broker::Ruling Broker::Argument::groups() const {
  const std::lock_guard lock(broker.mutex_);
  for (const Json& group : value.is_array() ? value : Json::array({value}))
    for (const auto& [page, in_front] : broker.our_pages_)
      if (page.substr(0, page.find('~')) == json_string(group)) return refuse(kTakesOurPage);
  return Ruling::pass();
}

Broker::Ruling Broker::Argument::changes() const {
  const auto is_own = [&](const Json& change) {
    const Json uri = change.is_object() ? change.value("resource", Json()) : Json();
    const auto resource = parse_resource(uri, broker.remote_authority_);
    return resource && broker.is_own_scheme(resource->scheme);
  };
  if (value.is_array() && std::all_of(value.begin(), value.end(), is_own)) return Ruling::pass();
  return refuse("$onFileSystemChange", "tells of changes in what it does not provide");
}

Broker::Ruling Broker::Argument::scheme() const {
  const std::string scheme = word();
  if (scheme.empty()) return refuse("is no name");
  // Who is Git here is Git in the whole window: ids are unique there.
  if (is_reserved_scheme(scheme) && !(scheme == "git" && broker.own_extension(Json("vscode.git"))))
    return refuse(scheme, "takes over a scheme of the editor");
  if (broker.knows(broker.others_schemes_, scheme))
    return refuse(scheme, "takes over a scheme of another extension");
  return Ruling::pass();
}

// The window has one list of them, and nobody declares them.
Broker::Ruling Broker::Argument::controller() const {
  if (broker.knows(broker.own_controllers_, word())) return Ruling::pass();
  return refuse(word(), "speaks for tests that are not its own");
}

Broker::Ruling Broker::Argument::own_run() const {
  if (!broker.knows(broker.shared_runs_, word())) return Ruling::pass();
  return refuse(word(), "ends a run of tests that others have a part in");
}

// ---- what acts ----

Broker::Ruling Broker::Argument::command() const {
  if (word().empty()) return refuse("is no name");
  return broker.decide_command(value, arguments, asked);
}

// What VS Code runs for each key that writes: whoever has it is given them, in every editor. It is
// not among the host's own, for with arguments of a host's it writes.
static bool takes_keys(const std::string& command) {
  static const std::set<std::string> kKeys = {
      "type", "replacePreviousChar", "compositionType", "compositionStart", "compositionEnd", "cut",
      "paste"};
  return kKeys.contains(command);
}

// One question for all of them, and one answer.
Broker::Ruling Broker::Argument::keys() const {
  {
    const std::lock_guard lock(broker.mutex_);
    if (broker.takes_keys_) return Ruling::pass();
  }
  Asked whole = asked.about(asked.method + " type");
  whole.given.clear();
  Ruling ruling = broker.decide_permission("typing", whole);
  const std::lock_guard lock(broker.mutex_);
  broker.takes_keys_ = ruling.passes();
  return ruling;
}

Broker::Ruling Broker::Argument::command_id() const {
  const std::string command = word();
  if (command.empty()) return refuse("is no name");
  if (takes_keys(command)) return keys();
  const std::lock_guard lock(broker.mutex_);
  const bool is_builtins = broker.is_of_own_builtin(command);
  const bool is_declared = broker.declared_.contains(command);
  // VS Code makes one that opens a view, by the view's name; its extension may have a better one.
  constexpr std::string_view kOpen = ".open";
  const std::string view =
      command.ends_with(kOpen) ? command.substr(0, command.size() - kOpen.size()) : std::string();
  const bool opens_own_view = is_declared && broker.own_views_.contains(view) &&
                              !broker.others_parts_.contains(view) && !is_editors_family(command);
  if ((broker.options_.commands.has(command) && !is_builtins) ||
      (broker.existing_commands_.contains(command) && !opens_own_view) ||
      (broker.others_declared_.contains(command) && !is_declared))
    return refuse(command, "takes over a command of the editor or of another extension");
  // Whoever comes last has it, and what is not declared may come late. That it declares another of
  // that family proves nothing.
  // Built-in extensions write "_" before what they register and do not declare.
  const size_t first = std::min(command.find_first_not_of('_'), command.size());
  const std::string family = command_family(command.substr(first));
  const auto theirs = broker.others_families_.find(family);
  if (!is_builtins && !is_declared && theirs != broker.others_families_.end() &&
      (first == 0 || theirs->second) && !broker.own_families_.contains(family))
    return refuse(command, "takes a command of another extension's family");
  // The editor may have it later, and then its own is what runs.
  if (!is_editors_family(command)) broker.registered_commands_.add(command);
  return Ruling::pass();
}

// A setting belongs to the extension that declares it; the editor's own ones (tasks, terminals,
// git's path, trust) run programs.
Broker::Ruling Broker::Argument::setting() const {
  const std::string key = word();
  if (key.empty()) return refuse("is no name");
  {
    const std::lock_guard lock(broker.mutex_);
    if (broker.foreign_settings_.owns(key)) return Ruling::pass();
  }
  return broker.decide_permission("settings-write-foreign", asked.about(asked.method + " " + key));
}

// The editor connects from here, with the user's rights: not for `network` to be gone round.
Broker::Ruling Broker::Argument::tunnel() const {
  const Json address = member("remoteAddress");
  const std::string host =
      address.is_object() ? lower_case(text_of(address.value("host", Json()))) : "";
  if (host == "localhost" || host == "127.0.0.1" || host == "::1") return Ruling::pass();
  return refuse(host.substr(0, 200), "a tunnel to another machine");
}

// ---- what is one of its kind at all ----

// Empty: too long to be built. What is no text, VS Code makes one of.
Broker::Ruling Broker::Argument::style_name() const {
  const std::string name = word();
  if (!name.empty() && is_style_name(name)) return Ruling::pass();
  return refuse("is no name that may stand in a style sheet");
}

Broker::Ruling Broker::Argument::no_json() const {
  return value.is_null() ? Ruling::pass() : refuse("is nothing that a host has to say here");
}

}  // namespace bulkhead
