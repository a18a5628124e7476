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
      return Ruling::ask(permission);
    case Arbiter::Ruling::kDeny:
      break;
  }
  if (arbiter_.still_asked(Kind::kVscode, permission)) return Ruling::later(permission);
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
    // Of a scheme that nobody has files of VS Code says so, and who asks may go on without.
    const bool is_nobodys = asked.method.starts_with("MainThreadFileSystem.") &&
                            !knows(others_schemes_, resource->scheme);
    return Ruling::deny(
        fmt::format("bulkhead: {}: is not this extension's to open", resource->scheme),
        is_nobodys ? "ENOPRO" : "NoPermissions");
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
      arbiter_.still_asked(kind, *canonical)
          ? std::string(kNotYet)
          : fmt::format("bulkhead: this extension may not {} {}", label(kind), *canonical),
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
                           asked.about(asked.method + " " + json_string(value).substr(0, 200)));
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
  return refuse(asked, json_string(id).substr(0, 200), "is no log of its own");
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

}  // namespace bulkhead
