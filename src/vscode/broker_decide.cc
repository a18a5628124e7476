// How the broker decides on one argument of a host's request.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/path.h"
#include "policy/covers.h"
#include "policy/links.h"
#include "sandbox/calls/symlinks.h"
#include "vscode/broker_parts.h"
#include "vscode/style_text.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

bool holds_pipe(const std::string& folder) {
  constexpr size_t kMostEntries = 200'000;
  constexpr auto kQuietly = std::filesystem::directory_options::skip_permission_denied;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder, kQuietly, error), end;
  for (size_t seen = 0; !error && entry != end; entry.increment(error)) {
    if (++seen > kMostEntries) return true;
    if (entry->symlink_status(error).type() == std::filesystem::file_type::fifo) return true;
  }
  return false;
}

}  // namespace

Broker::Ruling Broker::decide_permission(std::string_view permission, const Asked& asked) {
  Attempt attempt = asked.attempt();
  attempt.about = asked.given;
  switch (arbiter_.vscode(permission, attempt, asked.may_block)) {
    case Arbiter::Ruling::kAllow:
      // Pages are granted as such that reach no more than the extension. Not every browser sees to
      // it, and what it does not keep in is another permission.
      if (permission == "webview" && !options_.keeps_pages)
        return decide_permission("webview-network", asked);
      return Ruling::pass();
    case Arbiter::Ruling::kWouldAsk:
      return Ruling::ask();
    case Arbiter::Ruling::kDeny:
      break;
  }
  return Ruling::deny(fmt::format("bulkhead: this extension has no permission \"{}\"", permission));
}

Broker::Ruling Broker::decide_file(Kind kind, const Json& uri, const Asked& asked,
                                   std::string* decided) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource)
    return Ruling::deny("bulkhead: not a resource that can be judged", "NoPermissions");
  if (const auto file = file_to_be(*resource); file && kind != Kind::kReadStatus)
    return decide_written(*file, asked);
  if (!resource->is_file) {
    // Documents without a file, and schemes that this very host provides. Everything else may be
    // another extension's or the editor's own.
    if (resource->scheme == "untitled" || is_own_scheme(resource->scheme) ||
        (kind == Kind::kRead && is_public_of_editor(*resource)))
      return Ruling::pass();
    arbiter_.note_refusal(Kind::kVscode, resource->scheme + ":" + resource->path,
                          "a resource of another extension or of the editor",
                          Attempt{0, 0, asked.method, nullptr});
    return Ruling::deny(
        fmt::format("bulkhead: {}: is not this extension's to open", resource->scheme),
        "NoPermissions");
  }
  const Attempt attempt = asked.attempt();
  auto canonical = canonical_file(resource->path);
  if (!canonical) {
    if (resource->path.size() >= PATH_MAX)
      arbiter_.note_refusal(kind, resource->path.substr(0, 200), "a path of too many letters",
                            attempt);
    return Ruling::deny("bulkhead: no such folder",
                        kind == Kind::kRead ? "EntryNotFound" : "NoPermissions");
  }
  if (kind != Kind::kReadStatus && is_elsewhere(resource->path, *canonical)) {
    arbiter_.note_refusal(kind, *canonical, "the editor's is another file than the compartment's",
                          attempt);
    return Ruling::deny(
        "bulkhead: /tmp, /dev and /proc are the compartment's own, not the editor's",
        "NoPermissions");
  }
  switch (arbiter_.path(kind, *canonical, attempt, asked.may_block)) {
    case Arbiter::Ruling::kAllow:
      // Somebody may have said yes to this once: what comes back of it is meant by that too.
      if (asked.may_block && kind == Kind::kRead) {
        const std::lock_guard lock(mutex_);
        answered_.add(*canonical);
      }
      if (kind == Kind::kReadStatus) return Ruling::pass();
      if (Ruling ruling = use(resource->path, *canonical, RenameLock::Use::kOpen, asked);
          !ruling.passes())
        return ruling;
      if (kind == Kind::kRead) return decide_opened(*canonical, asked);
      if (decided != nullptr) *decided = std::move(*canonical);
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

// The workbench follows `path` a moment later: until it has answered, the compartment exchanges no
// name on the way to what was decided on.
Broker::Ruling Broker::use(const std::string& path, const std::string& canonical,
                           RenameLock::Use use, const Asked& asked) {
  if (options_.renames == nullptr || asked.number == 0) return Ruling::pass();  // in a reply
  const auto names = names_on_the_way(path);
  bool began = !names.empty();
  for (const std::string& name : names)
    began = began && options_.renames->begin(asked.number, name, use);
  if (!began) return Ruling::deny("bulkhead: too many files are in use");
  // From here on nothing changes: is it still what was decided on?
  if (names_on_the_way(path) != names || canonical_file(path) != canonical)
    return Ruling::deny(fmt::format("bulkhead: {} was exchanged meanwhile", canonical),
                        "NoPermissions");
  return Ruling::pass();
}

// A tree that the workbench renames or copies takes its links along, and there they
// would lead elsewhere. Nor must the new name give the right to read what the old one did not.
Broker::Ruling Broker::decide_moved(const Json& uri, const Json& to, const Asked& asked) {
  const auto resource = parse_resource(uri, remote_authority_);
  if (!resource || !resource->is_file || arbiter_.enforcement() == Enforcement::kAuditOnly)
    return Ruling::pass();  // decided on by what else it is
  const std::string named = normalize(resource->path);
  const auto folder = canonical_file(std::string(parent_of(named)));
  const auto canonical = canonical_file(named);
  if (!folder || !canonical) return Ruling::pass();
  if (Ruling ruling = use(named, *canonical, RenameLock::Use::kMove, asked); !ruling.passes())
    return ruling;
  const auto refuse = [&](const std::string& path, const std::string& why) {
    arbiter_.note_refusal(Kind::kWrite, path, why, Attempt{0, 0, asked.method, nullptr});
    return Ruling::deny(fmt::format("bulkhead: {} ({})", why, path), "NoPermissions");
  };
  const std::string entry = join(*folder, last_of(named));
  // By another name it would not be blocked.
  if (arbiter_.policy().above_read_block(*canonical))
    return refuse(entry, "a folder with a blocked path in it");
  struct stat about {};
  const bool is_folder = ::lstat(entry.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
  const auto readable = [&](const std::string& path) {
    return arbiter_.would_allow(Kind::kRead, path);
  };
  const auto goal = parse_resource(to, remote_authority_);
  const auto new_name =
      goal && goal->is_file ? canonical_file(normalize(goal->path)) : std::nullopt;
  // Where it is no file, it goes to a file system of this host's.
  const bool shows = !new_name || readable(*new_name) ||
                     (is_folder && arbiter_.policy().above_read_grant(*new_name));
  if (shows && !(readable(entry) && (!is_folder || readable(inside(entry)))))
    return refuse(entry, "what could be read by the new name alone");
  // What is copied is opened.
  if (Ruling ruling = decide_opened(*canonical, asked); !ruling.passes()) return ruling;
  if (is_folder && holds_pipe(entry)) return refuse(entry, "a folder with a pipe in it");
  std::optional<std::string> astray;
  const int error = for_each_symlink(
      AT_FDCWD, entry.c_str(), [&](const std::string& path, const std::string& target) {
        const auto depth = static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
        if (!path.empty() && stays_in_tree(target, depth)) return true;
        astray = path.empty() ? entry : join(entry, path);
        return false;
      });
  if (astray) return refuse(*astray, "a symbolic link that would lead elsewhere where it is put");
  if (error != 0 && error != ENOENT)
    return refuse(entry, "a folder whose symbolic links cannot all be looked at");
  return Ruling::pass();
}

// A pipe that nobody holds the other end of keeps a thread of the editor's server for good, which
// has four. From use() on none comes there (sandbox/calls/tree.cc).
Broker::Ruling Broker::decide_opened(const std::string& canonical, const Asked& asked) {
  if (arbiter_.enforcement() == Enforcement::kAuditOnly) return Ruling::pass();
  struct stat about {};
  if (::stat(canonical.c_str(), &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
    return Ruling::pass();
  return refuse(asked, canonical, "neither a file nor a folder");
}

Broker::Ruling Broker::decide_written(const Json& uri, const Asked& asked) {
  std::string file;
  Ruling ruling = decide_removed(uri, asked, &file);
  return ruling.passes() && !file.empty() ? decide_opened(file, asked) : ruling;
}

// What is removed, with all that is in it, or makes room for another.
Broker::Ruling Broker::decide_removed(const Json& uri, const Asked& asked, std::string* decided) {
  std::string file;
  Ruling ruling = decide_file(Kind::kWrite, uri, asked, &file);
  if (!ruling.passes() || file.empty()) return ruling;
  if (arbiter_.policy().above_block(file))
    return refuse(asked, file, "a blocked path lies in it, or would");
  if (decided != nullptr) *decided = std::move(file);
  return ruling;
}

// An entry of its package.json's that no other has.
bool Broker::owns_part(const std::string& part) {
  return knows(own_views_, part) && !knows(others_parts_, part);
}

// A command that it declares and that nobody else has, so that whoever runs it runs the extension.
bool Broker::owns_command(const std::string& command) {
  if (is_editors_family(command) || command.starts_with('_')) return false;
  const std::lock_guard lock(mutex_);
  if (!declared_.contains(command)) return false;
  const auto family = others_families_.find(command_family(command));
  if (family != others_families_.end() && family->second) return false;
  return !others_declared_.contains(command) && !options_.commands.has(command) &&
         !existing_commands_.contains(command);
}

// A type of notebooks, whoever declares it, or VS Code's list of inputs and outputs. What else can
// show a file is a viewer, which is opened as by a command.
Broker::Ruling Broker::decide_notebook_viewer(const Json& value, const Asked& asked) {
  if (is_none(value)) return Ruling::pass();
  const std::string viewer = text_of(value);
  const std::string type = "notebook/" + viewer;
  const bool is_type = (knows(own_views_, type) || knows(others_parts_, type)) &&
                       !knows(others_parts_, viewer) && !is_editors_family(viewer);
  if (is_type || viewer == "repl" || viewer == "interactive") return Ruling::pass();
  return decide_permission("commands-foreign",
                           asked.about(asked.method + " " + dumped(value).substr(0, 200)));
}

bool Broker::own_extension(const Json& value) const {
  if (value.is_object()) {
    // ExtensionIdentifier {value, _lower}, or an object that holds one as id or extensionId. VS
    // Code reads one or the other of them: all that are there must be true. Others are not there:
    // where it has a text or an extension's description, publisher and name are who it is.
    bool named = false;
    for (const auto& [key, each] : value.items())
      if (key != "value" && key != "_lower" && key != "id" && key != "extensionId" &&
          key != "location" && key != "version" && key != "uuid")
        return false;
    for (const char* key : {"value", "_lower", "id", "extensionId"}) {
      const auto it = value.find(key);
      if (it == value.end()) continue;
      if (!own_extension(*it)) return false;
      named = true;
    }
    return named;
  }
  const std::string id = lower_case(text_of(value));
  return std::find(options_.extensions.begin(), options_.extensions.end(), id) !=
         options_.extensions.end();
}

// The document that a person writes in. By the time of the edit another one may have the focus: the
// workbench is told which one this was for.
Broker::Ruling Broker::decide_active(const Asked& asked) {
  Json document;
  {
    const std::lock_guard lock(mutex_);
    document = active_;
  }
  if (document.is_null()) return Ruling::deny("bulkhead: no document is being edited");
  Ruling ruling = decide_written(document, asked);
  if (ruling.passes()) ruling.document = std::move(document);
  return ruling;
}

Broker::Ruling Broker::decide_edit(const Json& value, const Asked& asked) {
  const auto edits = value.is_object() ? value.find("edits") : value.end();
  if (edits == value.end() || !edits->is_array())
    return Ruling::deny("bulkhead: not a workspace edit");
  for (const Json& edit : *edits) {
    bool named = false;
    const auto member = [&](const char* key) -> const Json& {
      const auto uri = edit.is_object() ? edit.find(key) : edit.end();
      return uri == edit.end() || is_none(*uri) ? kNull : *uri;
    };
    const bool moves = !member("oldResource").is_null() && !member("newResource").is_null();
    for (const char* key : {"resource", "oldResource", "newResource"}) {
      const Json& uri = member(key);
      if (uri.is_null()) continue;
      named = true;
      const bool goes = key == std::string_view("oldResource");
      if (Ruling ruling = goes ? decide_removed(uri, asked) : decide_written(uri, asked);
          !ruling.passes())
        return ruling;
    }
    if (moves)
      if (Ruling ruling = decide_moved(member("oldResource"), member("newResource"), asked);
          !ruling.passes())
        return ruling;
    if (!named) return Ruling::deny("bulkhead: an edit that names no resource");
  }
  return Ruling::pass();
}

// The list of logs is the window's: of one name the last one takes the place of others', and a
// group is read as one. Those that say nothing are found by a hash of their files.
Broker::Ruling Broker::decide_logger(const Json& value, const Asked& asked) {
  static const std::set<std::string> kOfHosts = {"remoteexthost", "remoteExtHostTelemetry"};
  const auto member = [&](const char* key) {
    return value.is_object() ? value.value(key, Json()) : Json();
  };
  const Json id = member("id"), extension = member("extensionId"), group = member("group");
  const std::string name = text_of(id);
  const bool hash =
      id.is_string() && name.find_first_not_of("-0123456789abcdef") == std::string::npos;
  if ((is_none(id) || hash || kOfHosts.contains(name) || is_own_name(name)) &&
      (is_none(extension) || own_extension(extension)) &&
      (is_none(group) || (group.is_object() && group.value("id", Json()) == "telemetry")))
    return Ruling::pass();
  return refuse(asked, dumped(id).substr(0, 200), "is no log of its own");
}

// Of language models: of another extension it runs like a command.
Broker::Ruling Broker::decide_tool(const Json& name, const Asked& asked) {
  const std::string tool = text_of(name);
  if (owns_part("tool/" + tool)) return Ruling::pass();
  return decide_permission("commands-foreign", asked.about(asked.method + " " + tool));
}

// A call that begins, and what a model goes on saying for it: its tool is given that as it comes.
Broker::Ruling Broker::decide_tool_call(const Json& part, const Asked& asked) {
  const std::string call = text_of(part.value("toolCallId", Json()));
  if (text_of(part.value("kind", Json())) == "updateToolInvocation")
    return knows(own_calls_, call)
               ? Ruling::pass()
               : refuse(asked, call, "goes on with a call that it did not begin");
  Ruling ruling = decide_tool(part.value("toolName", Json()), asked);
  const std::lock_guard lock(mutex_);
  if (ruling.passes()) own_calls_.add(call);
  return ruling;
}

Broker::Ruling Broker::decide_external(const Json& value, const Asked& asked) {
  const auto resource = parse_resource(value, remote_authority_);
  if (!resource) return Ruling::deny("bulkhead: not an address");
  const std::string scheme = lower_case(resource->scheme);
  if (scheme != "http" && scheme != "https" && scheme != "mailto")
    return refuse(asked, resource->scheme + ":" + resource->path,
                  "only http, https and mailto addresses are opened outside");
  // A browser takes out tabs and what stands before an "@", and reads wide letters as plain ones.
  const bool plain =
      std::all_of(resource->authority.begin(), resource->authority.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("-._:[]").find(static_cast<char>(c)) != std::string_view::npos;
      });
  if (!plain)
    return refuse(asked, resource->authority.substr(0, 200), "is no plain name of a server");
  // Its address can choose the workspace, and how the editor starts.
  if (lower_case(resource->authority) == lower_case(remote_authority_))
    return refuse(asked, resource->authority, "the editor's own address is not opened by others");
  return decide_permission("open-external", asked.about(asked.method + " " + resource->authority));
}

Broker::Ruling Broker::refuse(const Asked& asked, const std::string& what, const std::string& why) {
  arbiter_.note_refusal(Kind::kVscode, what, why, Attempt{0, 0, asked.method, nullptr});
  return Ruling::deny(fmt::format("bulkhead: {} ({})", why, what));
}

Broker::Ruling Broker::check(const Check& check, const Json& value, const Json& arguments,
                             const Asked& asked) {
  switch (check.kind) {
    // VS Code makes texts of what is none, "x" of ["x"]; here that is the empty text.
    case ArgumentKind::kCommand:
    case ArgumentKind::kCommandId:
    case ArgumentKind::kSetting:
    case ArgumentKind::kScheme:
      if (text_of(value).empty()) return refuse(asked, dumped(value).substr(0, 200), "is no name");
      break;
    default:
      break;
  }
  switch (check.kind) {
    case ArgumentKind::kUriRead:
      return decide_file(Kind::kRead, value, asked);
    case ArgumentKind::kUriReadOrNone: {
      if (is_none(value)) return Ruling::pass();
      if (value.is_array()) {
        for (const Json& each : value)
          if (Ruling ruling = decide_file(Kind::kRead, each, asked); !ruling.passes())
            return ruling;
        return Ruling::pass();
      }
      // VS Code reads one or the other of them: all that are there must be readable.
      bool named = false;
      for (const char* key : {"uri", "baseUri"}) {
        const auto nested = value.is_object() ? value.find(key) : value.end();
        if (nested == value.end()) continue;
        named = true;
        Ruling ruling = decide_file(Kind::kRead, *nested, asked);
        if (!ruling.passes()) return ruling;
      }
      if (named && !is_resource_like(value)) return Ruling::pass();
      return decide_file(Kind::kRead, value, asked);
    }
    case ArgumentKind::kUriStatus:
      return decide_file(Kind::kReadStatus, value, asked);
    case ArgumentKind::kUriFolder:
      return decide_file(Kind::kWrite, value, asked);
    case ArgumentKind::kUriWrite:
      return decide_written(value, asked);
    case ArgumentKind::kUriRemove:
      return decide_removed(value, asked);
    case ArgumentKind::kUriMoved:
      return decide_moved(value, at(arguments, check.argument + 1), asked);
    case ArgumentKind::kEditorRead:
    case ArgumentKind::kEditorWrite: {
      Json document;
      {
        const std::lock_guard lock(mutex_);
        if (const auto editor = editors_.find(text_of(value)); editor != editors_.end())
          document = editor->second;
      }
      if (document.is_null()) return Ruling::deny("bulkhead: no such editor");
      return check.kind == ArgumentKind::kEditorRead ? decide_file(Kind::kRead, document, asked)
                                                     : decide_written(document, asked);
    }
    case ArgumentKind::kEdit:
      return decide_edit(value, asked);
    case ArgumentKind::kExtension:
      if (own_extension(value)) return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200),
                    "speaks for an extension that is not in this compartment");
    case ArgumentKind::kOwnName:
      if (is_own_name(text_of(value))) return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200),
                    "is a name that does not begin with its own extension's");
    case ArgumentKind::kCommand:
      return decide_command(value, arguments, asked);
    case ArgumentKind::kCommandId: {
      const std::string command = text_of(value);
      const std::lock_guard lock(mutex_);
      const bool is_builtins = is_of_own_builtin(command);
      if ((options_.commands.has(command) && !is_builtins) ||
          existing_commands_.contains(command) ||
          (others_declared_.contains(command) && !declared_.contains(command)))
        return refuse(asked, command, "takes over a command of the editor or of another extension");
      // Whoever comes last has it, and what is not declared may come late. That it declares another
      // of that family proves nothing.
      // Built-in extensions write "_" before what they register and do not declare.
      const size_t first = std::min(command.find_first_not_of('_'), command.size());
      const std::string family = command_family(command.substr(first));
      const auto theirs = others_families_.find(family);
      if (!is_builtins && !declared_.contains(command) && theirs != others_families_.end() &&
          (first == 0 || theirs->second) && !own_families_.contains(family))
        return refuse(asked, command, "takes a command of another extension's family");
      // The editor may have it later, and then its own is what runs.
      if (!is_editors_family(command)) registered_commands_.add(command);
      return Ruling::pass();
    }
    case ArgumentKind::kSetting: {
      // A setting belongs to the extension that declares it; the editor's own ones (tasks,
      // terminals, git's path, trust) run programs.
      const std::string key = text_of(value);
      {
        const std::lock_guard lock(mutex_);
        if (foreign_settings_.owns(key)) return Ruling::pass();
      }
      return decide_permission("settings-write-foreign", asked.about(asked.method + " " + key));
    }
    case ArgumentKind::kView: {
      const std::string view = text_of(value);
      // Ids are unique in a window, and who provides for one fills it, whoever declared it.
      if (owns_part(view) && (!is_editors_family(view) || knows(builtin_views_, view)))
        return Ruling::pass();
      return refuse(asked, view, "shows something in a view that is not its own");
    }
    case ArgumentKind::kPanel:
      if (owns_part("panel/" + text_of(value))) return Ruling::pass();
      return refuse(asked, text_of(value),
                    "shows webviews of a type that its activationEvents do not name");
    case ArgumentKind::kNotebook:
      if (owns_part("notebook/" + text_of(value))) return Ruling::pass();
      return refuse(asked, text_of(value), "reads notebooks of a type that is not its own");
    case ArgumentKind::kRenderer:
      if (owns_part("renderer/" + text_of(value))) return Ruling::pass();
      return refuse(asked, text_of(value), "speaks to a renderer that is not its own");
    case ArgumentKind::kDebugType:
      if (owns_part("debug/" + text_of(value))) return Ruling::pass();
      return refuse(asked, text_of(value), "debugs programs of a type that is not its own");
    case ArgumentKind::kKernel: {
      // "publisher.name/id", by which notebooks remember it.
      const std::string id = value.is_object() ? text_of(value.value("id", Json())) : "";
      const std::string whose = lower_case(id.substr(0, id.find('/')));
      if (id.size() > whose.size() && own_extension(Json(whose)) &&
          own_extension(value.value("extensionId", Json())))
        return Ruling::pass();
      return refuse(asked, id.substr(0, 200), "is no kernel of its own");
    }
    case ArgumentKind::kController:
      // The window has one list of them, and nobody declares them.
      if (knows(own_controllers_, text_of(value))) return Ruling::pass();
      return refuse(asked, text_of(value), "speaks for tests that are not its own");
    case ArgumentKind::kTests:
      return decide_tests(value, asked);
    case ArgumentKind::kTestDiff:
      return decide_test_diff(value, asked);
    case ArgumentKind::kTestRun:
      return decide_test_run(value, asked);
    case ArgumentKind::kOwnRun: {
      const std::lock_guard lock(mutex_);
      if (!shared_runs_.contains(text_of(value))) return Ruling::pass();
      return refuse(asked, text_of(value), "ends a run of tests that others have a part in");
    }
    case ArgumentKind::kTestTargets:
      return decide_test_targets(value, asked);
    case ArgumentKind::kViewer:
      return decide_notebook_viewer(value, asked);
    case ArgumentKind::kNumber:
      if (value.is_number()) return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200), "is no number");
    case ArgumentKind::kText:
      if (!text_of(value).empty()) return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200), "is no name");
    case ArgumentKind::kNoJson:
      if (value.is_null()) return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200), "is nothing that a host has to say here");
    case ArgumentKind::kTool:
      return decide_tool(value.is_object() ? value.value("toolId", Json()) : Json(), asked);
    case ArgumentKind::kProgress:
      return decide_progress(value, asked);
    case ArgumentKind::kContext: {
      // "publisher.name-id", as VS Code makes them; another's name may begin with that.
      const std::string id = lower_case(text_of(value));
      if (std::any_of(options_.extensions.begin(), options_.extensions.end(),
                      [&](const std::string& own) { return id.starts_with(own + "-"); }) &&
          !knows(others_parts_, "chat-context/" + id))
        return Ruling::pass();
      return refuse(asked, id.substr(0, 200), "speaks for what another extension declares");
    }
    case ArgumentKind::kSession:
      return decide_sessions(value, asked);
    case ArgumentKind::kVendor:
      if (knows(own_models_, text_of(value))) return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200), "speaks for models that are not its own");
    case ArgumentKind::kNestedWrite:
      return decide_written(value.is_object() ? value.value("uri", Json()) : Json(), asked);
    case ArgumentKind::kChanges: {
      const bool own =
          value.is_array() && std::all_of(value.begin(), value.end(), [&](const Json& each) {
            const auto resource =
                each.is_object() ? parse_resource(each.value("resource", Json()), remote_authority_)
                                 : std::nullopt;
            return resource && is_own_scheme(resource->scheme);
          });
      if (own) return Ruling::pass();
      return refuse(asked, "$onFileSystemChange", "tells of changes in what it does not provide");
    }
    case ArgumentKind::kDeclared: {
      // Elsewhere VS Code takes the object itself for the name.
      if (value.is_object() && !asked.method.ends_with("TimelineProvider"))
        return refuse(asked, dumped(value).substr(0, 200), "is no name");
      const std::string name = text_of(value.is_object() ? value.value("id", Json()) : value);
      if (name.empty()) return refuse(asked, dumped(value).substr(0, 200), "is no name");
      // By a page's type packages tell where their menu items are: this one is all notebooks'.
      if (name == "notebook.output") return refuse(asked, name, "takes over what is the editor's");
      if (!knows(others_parts_, name)) return Ruling::pass();
      return refuse(asked, name, "takes over what another extension declares");
    }
    case ArgumentKind::kSignIn: {
      // Who comes last has it: the accounts of the window, and what a person types for them.
      const std::string name = text_of(value.is_object() ? value.value("id", Json()) : value);
      if (owns_part("authentication/" + name) && !knows(others_parts_, name)) return Ruling::pass();
      return refuse(asked, name, "is no way to sign in that its package.json declares");
    }
    case ArgumentKind::kChannel: {
      // As VS Code makes them: "extension-output-publisher.name-#1-Label", and for logs
      // "publisher.name.Label.log".
      const std::string id = lower_case(text_of(value));
      if (std::any_of(options_.extensions.begin(), options_.extensions.end(),
                      [&](const std::string& own) {
                        return id.starts_with("extension-output-" + own + "-#") ||
                               id.starts_with(own + ".");
                      }))
        return Ruling::pass();
      return refuse(asked, id.substr(0, 200), "speaks for an output channel that is not its own");
    }
    case ArgumentKind::kTunnel: {
      // The editor connects from here, with the user's rights: not for `network` to be gone round.
      const Json address = value.is_object() ? value.value("remoteAddress", Json()) : Json();
      const std::string host =
          address.is_object() ? lower_case(text_of(address.value("host", Json()))) : "";
      if (host == "localhost" || host == "127.0.0.1" || host == "::1") return Ruling::pass();
      return refuse(asked, host.substr(0, 200), "a tunnel to another machine");
    }
    case ArgumentKind::kFolders:
      if (!value.is_array())
        return refuse(asked, dumped(value).substr(0, 200), "is no list of folders");
      for (const Json& each : value) {
        const Json folder = each.is_object() ? each.value("uri", Json()) : Json();
        if (Ruling ruling = decide_file(Kind::kRead, folder, asked); !ruling.passes())
          return ruling;
      }
      return Ruling::pass();
    case ArgumentKind::kScheme: {
      const std::string scheme = text_of(value);
      // Who is Git here is Git in the whole window: ids are unique there.
      if (is_reserved_scheme(scheme) && !(scheme == "git" && own_extension(Json("vscode.git"))))
        return refuse(asked, scheme, "takes over a scheme of the editor");
      const std::lock_guard lock(mutex_);
      if (others_schemes_.contains(scheme))
        return refuse(asked, scheme, "takes over a scheme of another extension");
      return Ruling::pass();
    }
    case ArgumentKind::kLogFile:
    case ArgumentKind::kLogResource: {
      const auto outside = [&](const Json& uri) -> std::optional<Ruling> {
        const auto resource = parse_resource(uri, remote_authority_);
        if (resource && resource->is_file && !logs_.empty() &&
            is_within(normalize(resource->path), logs_))
          return std::nullopt;
        return refuse(asked, resource ? resource->path : "?",
                      "writes a log outside of its log folder");
      };
      const auto nested = check.kind == ArgumentKind::kLogResource && value.is_object()
                              ? value.find("resource")
                              : value.end();
      if (nested != value.end())
        if (const auto refused = outside(*nested)) return *refused;
      if (nested == value.end() || is_resource_like(value))
        if (const auto refused = outside(value)) return *refused;
      return Ruling::pass();
    }
    case ArgumentKind::kLogger:
      return decide_logger(value, asked);
    case ArgumentKind::kExternal:
      return decide_external(value, asked);
    case ArgumentKind::kOwnTerminal: {
      {
        const std::lock_guard lock(mutex_);
        if (value.is_number_unsigned() && own_terminals_.contains(value.get<uint64_t>()))
          return Ruling::pass();
      }
      return refuse(asked, dumped(value).substr(0, 200),
                    "speaks for a terminal that is not its own");
    }
    case ArgumentKind::kScmInput: {
      // The workbench shows what stands in that document, and tells what a person writes there.
      const auto resource = parse_resource(value, remote_authority_);
      const std::string folder = text_of(at(arguments, 2)) + "/";
      if (resource && folder.size() > 1 && resource->scheme == "vscode-scm" &&
          (resource->path.starts_with(folder) || resource->path.starts_with("/" + folder)))
        return Ruling::pass();
      return refuse(asked, resource ? resource->scheme + ":" + resource->path : "?",
                    "is no input box of its source control");
    }
    case ArgumentKind::kStyleName:
      // Empty: too long to be built. What is no text, VS Code makes one of.
      if (const std::string name = text_of(value); !name.empty() && is_style_name(name))
        return Ruling::pass();
      return refuse(asked, dumped(value).substr(0, 200),
                    "is no name that may stand in a style sheet");
    case ArgumentKind::kWebviewOptions:
    case ArgumentKind::kWebviewInit: {
      const Json& options = check.kind == ArgumentKind::kWebviewInit && value.is_object() &&
                                    value.contains("webviewOptions")
                                ? value["webviewOptions"]
                                : value;
      if (!options.is_object()) return Ruling::pass();
      if (const auto ports = options.find("portMapping");
          ports != options.end() && !ports->empty()) {
        if (Ruling ruling = decide_permission("tunnels", asked); !ruling.passes()) return ruling;
      }
      const auto roots = options.find("localResourceRoots");
      if (roots == options.end() || !roots->is_array()) return Ruling::pass();
      for (const Json& root : *roots) {
        if (Ruling ruling = decide_file(Kind::kRead, root, asked); !ruling.passes()) return ruling;
      }
      return Ruling::pass();
    }
  }
  return Ruling::deny("bulkhead: unknown check");
}

}  // namespace bulkhead
