#include "session/session.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/fd.h"
#include "base/path.h"
#include "policy/git_named.h"
#include "policy/homes.h"
#include "policy/lifts.h"
#include "policy/links.h"
#include "policy/pattern.h"
#include "policy/shipped.h"
#include "policy/units.h"
#include "session/certificates.h"
#include "session/search_path.h"
#include "session/worktree.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxManifest = 1 << 20;
// Caches of compilers and package managers last in there: more than one program alone takes.
constexpr uint64_t kMostOfWorkspaceHome = uint64_t{8} << 30U;
constexpr double kLeastCores = 0.01;  // as for a manifest: less is no quota that a cgroup takes

Extra flag(Kind kind, std::string text, std::string name) {
  return Extra{
      .source = Rule::Source::kCommandLine,
      .verdict = Verdict::kAllow,
      .kind = kind,
      .entry = {
          .text = std::move(text),
          .where = {.file = "command line", .line = 0, .column = 0, .field = std::move(name)}}};
}

// Words of the manifest's language are passed on; anything else is a path of this machine.
bool is_language(std::string_view text) {
  return text.starts_with("@") || text.starts_with("${") || text.starts_with("**/");
}

// --read and --write. A "*" that the shell left is a pattern, unless a file has that very name;
// "/." means the folder without what is in it, as in a manifest.
Result<std::string> path_entry(const std::string& folder, const std::string& text, Kind kind) {
  if (is_language(text)) return text;
  auto whole = canonical_path(folder, text);
  const bool itself = text.ends_with("/.");
  const size_t star = text.find('*');
  if (itself || star == std::string::npos || (whole.ok() && access(whole->c_str(), F_OK) == 0)) {
    if (!whole.ok()) return std::move(whole).error();
    BULKHEAD_CHECK(must_exist(*whole, kind));
    const std::string entry = quote_path(*whole);
    if (!itself) return entry;
    return entry == "/" ? "/." : entry + "/.";
  }
  const size_t slash = text.rfind('/', star);
  const std::string before = slash == std::string::npos ? "." : text.substr(0, slash + 1);
  BULKHEAD_TRY(const std::string base, canonical_path(folder, before));
  const std::string pattern = slash == std::string::npos ? text : text.substr(slash + 1);
  return (base == "/" ? "" : quote_path(base)) + "/" + pattern;
}

// A link in the project may be somebody else's work, and lead to what was not meant.
Status stays_in_project(const Session& session, const std::string& text) {
  const std::vector<std::string>& folders = session.inputs.variables.workspace;
  const auto in_project = [&](const std::string& path) {
    return std::any_of(folders.begin(), folders.end(),
                       [&](const std::string& folder) { return is_within(path, folder); });
  };
  const std::string before = text.substr(0, text.find('*'));
  std::vector<std::string> names =
      names_on_the_way(before.starts_with('/') ? before : session.folder + "/" + before);
  if (names.empty() || in_project(names.back())) return {};
  const std::string real = std::move(names.back());
  names.pop_back();
  const auto link = std::find_if(names.begin(), names.end(), in_project);
  if (link == names.end()) return {};
  return Error{.message = fmt::format("{} is a link that leads out of the workspace; where that is "
                                      "meant, name {}",
                                      *link, real),
               .errno_value = ELOOP};
}

Result<std::vector<Extra>> extras_of(const PolicyOptions& options, const Session& session) {
  const std::string& folder = session.folder;
  std::vector<Extra> extras;
  const auto paths = [&](const std::vector<std::string>& texts, Kind kind,
                         const char* name) -> Status {
    for (const std::string& text : texts) {
      // What is written may be read back: it need not be there either.
      const bool written =
          std::find(options.write.begin(), options.write.end(), text) != options.write.end();
      auto entry = path_entry(folder, text, written ? Kind::kWrite : kind);
      // What runs is in the compartment, wherever it stands: .venv/bin/python is such a link.
      if (entry.ok() && kind != Kind::kRun && !is_language(text))
        if (Status stays = stays_in_project(session, text); !stays.ok())
          entry = std::move(stays).error();
      if (!entry.ok())
        return Error{.message = fmt::format("{} {}: {}", name, text, entry.error().message),
                     .errno_value = entry.error().errno_value};
      extras.push_back(flag(kind, std::move(*entry), name));
    }
    return {};
  };
  BULKHEAD_CHECK(paths(options.read, Kind::kRead, "--read"));
  BULKHEAD_CHECK(paths(options.write, Kind::kWrite, "--write"));
  for (const std::string& text : options.run) {
    // A name is looked up in PATH by the policy, where not being there is no mistake; a
    // path is of this machine.
    if (text.find('/') == std::string::npos) {
      if (!text.empty() && !is_language(text) && text.find('*') == std::string::npos) {
        const auto found = find_program({text}, folder, session.inputs.search_path, session.homes);
        if (!found.ok())
          return Error{.message = fmt::format("--run {}: {}", text, found.error().message),
                       .errno_value = found.error().errno_value};
      }
      extras.push_back(flag(Kind::kRun, text, "--run"));
    } else {
      BULKHEAD_CHECK(paths({text}, Kind::kRun, "--run"));
    }
  }
  for (const std::string& text : options.connect)
    extras.push_back(flag(Kind::kConnect, text, "--connect"));
  for (const std::string& text : options.listen)
    extras.push_back(flag(Kind::kListen, text, "--listen"));
  for (const std::string& text : options.environment)
    extras.push_back(flag(Kind::kEnvironment, text, "--env"));
  return extras;
}

// `typed` says what `value` was made of; none is no `form`.
template <typename T>
Status set_limit(const char* name, std::string_view typed, std::optional<T> value,
                 std::string_view form, std::optional<T>& into) {
  if (!value) return Error{.message = fmt::format("{} {}: not {}", name, typed, form)};
  if (*value <= T{})
    return Error{.message = fmt::format("{} {}: must be more than 0", name, typed)};
  into = value;
  return {};
}

// The flags' limits take the place of the manifest's: who runs it decides. An organisation's
// bounds stay, because they are the blocklist's.
Status set_limits(const PolicyOptions& options, Limits& limits) {
  const auto size = [](const char* name, const std::string& text, auto& into) -> Status {
    if (text.empty()) return {};
    return set_limit(name, text, parse_size(text), "a size such as 512MiB or 2GiB", into);
  };
  const auto duration = [](const char* name, const std::string& text, auto& into) -> Status {
    if (text.empty()) return {};
    return set_limit(name, text, parse_duration(text),
                     "a duration such as 30s, 10m or 2h, of ten years at most", into);
  };
  const auto number = [](const char* name, const auto& value, auto most, auto& into) -> Status {
    if (!value) return {};
    if (*value > most)
      return Error{.message = fmt::format("{} {}: must be at most {}", name, *value, most)};
    const bool finite = std::isfinite(static_cast<double>(*value));
    return set_limit(name, fmt::to_string(*value), finite ? value : std::nullopt, "a finite number",
                     into);
  };
  BULKHEAD_CHECK(size("--memory", options.memory, limits.memory));
  BULKHEAD_CHECK(size("--written", options.written, limits.written));
  BULKHEAD_CHECK(size("--home", options.home, limits.home));
  BULKHEAD_CHECK(duration("--cpu-time", options.cpu_time, limits.cpu_time));
  BULKHEAD_CHECK(duration("--wall-time", options.wall_time, limits.wall_time));
  BULKHEAD_CHECK(number("--cpu", options.cpu, kMostCores, limits.cpu));
  if (options.cpu && *options.cpu < kLeastCores)
    return Error{.message =
                     fmt::format("--cpu {}: must be at least {}", *options.cpu, kLeastCores)};
  BULKHEAD_CHECK(number("--processes", options.processes, kMostProcesses, limits.processes));
  BULKHEAD_CHECK(number("--files", options.files, kMostFiles, limits.files));
  return {};
}

// Answers about ports are of a folder, whichever program serves it; all others are of a program.
Status load_answers(Session& session) {
  PolicyInputs& inputs = session.inputs;
  const GrantStore store(session.places.grants());
  if (!session.answers_for.empty()) {
    BULKHEAD_TRY(auto own, store.load(session.answers_for, inputs.manifest.digest));
    inputs.extras.insert(inputs.extras.end(), own.begin(), own.end());
  }
  if (inputs.variables.workspace.empty()) return {};
  BULKHEAD_TRY(auto here, store.load(inputs.variables.workspace.front(), inputs.manifest.digest));
  std::copy_if(here.begin(), here.end(), std::back_inserter(inputs.extras),
               [](const Extra& extra) { return extra.kind == Kind::kListen; });
  return {};
}

bool uses(const Manifest& manifest, std::string_view variable) {
  const auto in = [variable](const std::vector<Entry>& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [variable](const Entry& entry) { return entry.text.starts_with(variable); });
  };
  return in(manifest.files.read) || in(manifest.files.write) || in(manifest.run);
}

bool uses(const PolicyInputs& inputs, std::string_view variable) {
  return uses(inputs.manifest, variable) || (inputs.baseline && uses(*inputs.baseline, variable));
}

// Whether the baseline's private home can be had here: a program that was granted the home folder
// itself works in the machine's, and where there is no home folder none can be replaced.
bool may_have_own_home(const PolicyInputs& inputs) {
  const std::string& home = inputs.variables.home;
  struct stat status = {};
  if (home.size() < 2 || stat(home.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  const auto holds_home = [&home](const std::string& path) { return is_within(home, path); };
  const auto& workspaces = inputs.variables.workspace;
  if (std::any_of(workspaces.begin(), workspaces.end(), holds_home)) return false;
  return std::none_of(inputs.extras.begin(), inputs.extras.end(), [&](const Extra& extra) {
    if (extra.verdict != Verdict::kAllow || extra.kind > Kind::kRun) return false;
    if (extra.entry.text == "${home}") return true;
    const auto parsed = parse_pattern(extra.entry.text);
    return parsed.ok() && parsed->variable.empty() && parsed->pattern.is_concrete() &&
           holds_home(parsed->pattern.path());
  });
}

// Whether the workspace itself is granted for reading or writing.
bool grants_workspace(const PolicyInputs& inputs, bool writing) {
  const auto whole = [writing](const Manifest& manifest) {
    const std::vector<Entry>& entries = writing ? manifest.files.write : manifest.files.read;
    return std::any_of(entries.begin(), entries.end(),
                       [](const Entry& entry) { return entry.text == "${workspace}"; });
  };
  return whole(inputs.manifest) || (inputs.baseline && whole(*inputs.baseline));
}

Result<std::vector<std::string>> workspaces(const PolicyOptions& options, const Session& session,
                                            bool example) {
  std::vector<std::string> found;
  for (const std::string& text : options.workspace) {
    BULKHEAD_TRY(const std::string path, named_workspace(session.folder, text));
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
  }
  if (!found.empty()) return found;
  // The working folder, unless that would hand over more than anybody means by "this project".
  const std::string why_not = why_no_project(session.folder, session.homes);
  if (why_not.empty()) return std::vector<std::string>{session.folder};
  if (!uses(session.inputs, "${workspace}")) return found;
  if (example) return std::vector<std::string>{join(session.places.home, "PROJECT")};
  return Error{.message = fmt::format(
                   "the working folder {} {}, and would be granted whole: go to the project's "
                   "folder, or name one with --workspace FOLDER",
                   session.folder, why_not)};
}

Result<Manifest> read_manifest(const PolicyOptions& options, const SessionRequest& request) {
  if (request.manifest) return *request.manifest;
  BULKHEAD_TRY(std::string text, read_file(options.manifest, kMaxManifest));
  auto manifest = parse_manifest(ManifestBytes::of(options.manifest, std::move(text)));
  if (manifest.ok()) return manifest;
  Error error = std::move(manifest).error();
  error.message += "; `bulkhead check` tells all that is wrong with it:";
  return error;
}

// What is to be kept as it is, or the program would say what it may the next time. Nothing where it
// is read but once, as `--manifest <(…)` is.
std::vector<std::string> names_of_manifest(const std::string& folder, const std::string& text) {
  const std::string path = text.starts_with('/') ? text : folder + "/" + text;
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return names_of(path);
}

Status set_variables(const PolicyOptions& options, bool example, Session& session) {
  PolicyInputs& inputs = session.inputs;
  inputs.variables = {.workspace = {},
                      .extension = session.program ? session.program->own_folder : "",
                      .storage = canonical_or_same(
                          session.places.state + "/storage/" +
                          folder_name_of(session.subject.empty() ? "none" : session.subject)),
                      .home = session.places.home,
                      .config = canonical_or_same(session.places.config),
                      .state = canonical_or_same(session.places.state),
                      .runtime = canonical_or_same(session.places.runtime),
                      .bulkhead = own_files(session.places),
                      .other_homes = session.homes};
  if (!options.manifest.empty()) {
    auto names = names_of_manifest(session.folder, options.manifest);
    std::move(names.begin(), names.end(), std::back_inserter(inputs.variables.bulkhead));
  }
  if (inputs.variables.extension.empty() && !options.manifest.empty()) {
    BULKHEAD_TRY(const std::string file, canonical_path(session.folder, options.manifest));
    inputs.variables.extension = std::string(parent_of(file));
  }
  BULKHEAD_TRY(inputs.variables.workspace, workspaces(options, session, example));
  return {};
}

}  // namespace

Error unwritable_state(const Places& places, Error cause) {
  cause.message += "\nbulkhead runs nothing that it cannot record";
  switch (cause.errno_value) {
    case EUCLEAN:  // damage, another program's file, a lock, no shared memory: the cause says
    case EINVAL:   // what to do, and the folder is not to blame
    case EBUSY:
    case ENOTSUP:
      break;
    case ENOSPC:
    case EDQUOT:
      cause.message += ": free some space, or set XDG_STATE_HOME to a folder with room";
      break;
    default:
      cause.message += fmt::format(": make {} writable, or set XDG_STATE_HOME to a folder that is",
                                   places.state);
  }
  return cause;
}

Result<std::string> named_workspace(const std::string& folder, const std::string& text) {
  auto path = canonical_path(folder, text);
  struct stat status = {};
  if (path.ok() && stat(path->c_str(), &status) != 0) path = errno_error("find " + *path);
  if (path.ok() && !S_ISDIR(status.st_mode))
    path = Error{.message = *path + " is not a folder (to grant a file: --read or --write)",
                 .errno_value = ENOTDIR};
  if (path.ok()) return path;
  return Error{.message = fmt::format("--workspace {}: {}", text, path.error().message),
               .errno_value = path.error().errno_value};
}

Result<std::string> working_folder() {
  std::array<char, PATH_MAX> text = {};
  if (getcwd(text.data(), text.size()) == nullptr)
    return errno_error("tell the working folder, which may have been removed");
  // Linux says "(unreachable)/…" for a folder outside the root of this mount namespace.
  if (text[0] != '/')
    return Error{.message = "the working folder is outside this file system's root",
                 .errno_value = ENOENT};
  return std::string(text.data());
}

Status must_exist(const std::string& path, Kind kind) {
  if (access(path.c_str(), F_OK) == 0) return {};
  if (errno != ENOENT || kind != Kind::kWrite) return errno_error("find " + path);
  const std::string parent(parent_of(path));
  if (access(parent.c_str(), F_OK) != 0) return errno_error("find the folder " + parent);
  return {};
}

Result<std::string> typed_path(const Session& session, const std::string& text) {
  return canonical_path(session.folder, text);
}

Result<Session> open_session(const PolicyOptions& options, const SessionRequest& request) {
  Session session;
  BULKHEAD_TRY(session.folder, working_folder());
  BULKHEAD_TRY(session.places, find_places());
  session.places.home = canonical_or_same(session.places.home);
  session.homes = homes_with(session.places.home);
  BULKHEAD_TRY(Shipped shipped, load_shipped(session.places, LoadSets::kNone));
  PolicyInputs& inputs = session.inputs;
  inputs.blocklists = std::move(shipped.blocklists);
  inputs.lifted = options.unblock;
  const char* path = std::getenv("PATH");
  inputs.search_path = split_search_path(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");

  if (!request.command.empty()) {
    auto program = find_program(request.command, session.folder, inputs.search_path, session.homes);
    if (!program.ok()) {
      if (request.not_run != nullptr) *request.not_run = program.error().errno_value;
      return std::move(program).error();
    }
    session.program = std::move(program).value();
    session.subject = session.program->subject;
    session.answers_for = session.program->answers_for;
  }
  if (!options.manifest.empty()) {
    BULKHEAD_TRY(inputs.manifest, read_manifest(options, request));
    if (!inputs.manifest.extension.empty())
      session.subject = session.answers_for = inputs.manifest.extension;
    inputs.baseline = std::move(shipped.essentials);
  } else {
    inputs.baseline = std::move(shipped.baseline);
    inputs.manifest.otherwise = request.otherwise;
  }
  inputs.subject = session.answers_for;
  if (!options.otherwise.empty())
    inputs.manifest.otherwise = options.otherwise == "ask" ? Otherwise::kAsk : Otherwise::kDeny;
  if (request.nobody_answers) inputs.manifest.otherwise = Otherwise::kDeny;
  if (options.private_home) inputs.manifest.files.private_home = true;
  const bool by_baseline = options.manifest.empty() && !options.private_home;
  BULKHEAD_CHECK(set_limits(options, inputs.manifest.limits));

  BULKHEAD_CHECK(set_variables(options, request.example_workspace, session));
  BULKHEAD_TRY(
      const auto lifted,
      LiftStore(session.places.lifts()).lifted_in(inputs.variables.workspace, inputs.blocklists));
  inputs.lifted.insert(inputs.lifted.end(), lifted.begin(), lifted.end());
  inputs.blocklists.push_back(git_named(inputs.variables.workspace, inputs.variables.home));
  if (request.make_folders && uses(inputs, "${storage}")) {
    const Status made = make_directories(inputs.variables.storage, 0700);
    if (!made.ok()) return unwritable_state(session.places, made.error());
  }

  if (options.manifest.empty())
    for (const std::string& tree : toolchains_in(inputs.search_path, inputs.variables))
      inputs.baseline->files.read.push_back(
          Entry{quote_path(tree), {.file = "PATH", .line = 0, .column = 0, .field = ""}});

  BULKHEAD_TRY(inputs.extras, extras_of(options, session));
  for (Extra& each : repository_grants(inputs.variables.workspace, grants_workspace(inputs, false),
                                       grants_workspace(inputs, true)))
    inputs.extras.push_back(std::move(each));
  if (session.program) {
    // Naming a program on the command line grants running it, and reading it where it is a script.
    const std::string entry = quote_path(session.program->canonical);
    inputs.extras.push_back(flag(Kind::kRun, entry, "PROGRAM"));
    inputs.extras.push_back(flag(Kind::kRead, entry, "PROGRAM"));
  }
  BULKHEAD_CHECK(load_answers(session));
  if (by_baseline && !may_have_own_home(inputs)) inputs.manifest.files.private_home = false;
  if (by_baseline && !inputs.manifest.limits.home)
    inputs.manifest.limits.home = kMostOfWorkspaceHome;
  session.home_owner = options.manifest.empty()
                           ? fmt::format("{}", fmt::join(inputs.variables.workspace, ":"))
                           : session.subject;
  BULKHEAD_TRY(inputs.sets, load_sets(session.places, sets_named(inputs)));
  // Except where a grant names them: then they are the machine's own, and nothing but that grant
  // holds in them.
  inputs.scratch = {"/tmp", "/dev/shm"};
  inputs.scratch_yields_to_grants = true;
  if (options.manifest.empty()) {
    auto trusted =
        certificate_grants(session.folder, [](const char* name) { return getenv(name); });
    std::move(trusted.begin(), trusted.end(), std::back_inserter(inputs.extras));
  }
  BULKHEAD_TRY(session.policy, Policy::compile(inputs));
  if (drop_blocked_certificates(*session.policy, inputs.extras)) {
    BULKHEAD_TRY(session.policy, Policy::compile(inputs));
  }
  return session;
}

}  // namespace bulkhead
