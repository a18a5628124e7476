#include "policy/config.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "policy/frozen.h"
#include "policy/links.h"

namespace bulkhead {
namespace {

// The value of a variable that holds an absolute path; the XDG specification has others ignored.
std::string absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || value[0] != '/') return {};
  return normalize(value);
}

Result<std::string> home_folder() {
  if (std::string home = absolute_variable("HOME"); !home.empty()) return home;
  std::array<char, 16384> buffer{};
  struct passwd entry {};
  struct passwd* found = nullptr;
  const int error = ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr || found->pw_dir == nullptr || found->pw_dir[0] != '/')
    return Error{fmt::format("cannot tell your home folder: HOME is no absolute path, and the "
                             "password database has none for user {}; set HOME",
                             ::geteuid()),
                 error};
  return normalize(found->pw_dir);
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool holds_data(const std::string& folder) {
  return ::access((folder + "/manifests/baseline.json").c_str(), R_OK) == 0 &&
         is_folder(folder + "/manifests/sets");
}

Result<std::string> own_program() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t size = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (size <= 0)
    return errno_error("find out where bulkhead itself is: cannot read /proc/self/exe");
  return std::string(buffer.data(), static_cast<size_t>(size));
}

Result<std::string> data_folder(const std::string& program) {
  if (const char* named = std::getenv("BULKHEAD_DATA"); named != nullptr && named[0] != '\0') {
    if (named[0] != '/')
      return Error{fmt::format("BULKHEAD_DATA={} must be an absolute path", named), EINVAL};
    if (!holds_data(named))
      return Error{fmt::format("BULKHEAD_DATA={} holds no manifests/baseline.json and "
                               "manifests/sets; correct it, or unset it",
                               named),
                   ENOENT};
    std::string folder = normalize(named);
    // A program that may write where the link stands could have it name rules of its own.
    if (const std::string real = follow_links(folder); real != folder)
      return Error{
          fmt::format("BULKHEAD_DATA={} leads through a symbolic link, which could come to name "
                      "another folder: give the folder itself, {}",
                      named, real),
          ELOOP};
    return folder;
  }
  const std::string folder(parent_of(program));
  const std::string installed = join(folder, "../share/bulkhead");
  if (holds_data(installed)) return installed;
  // A build folder lies at most four levels below the source: build/PRESET/bin/bulkhead.
  std::string above = folder;
  for (int i = 0; i < 4 && above != "/"; ++i) {
    above = std::string(parent_of(above));
    if (above != "/" && holds_data(above)) return above;
  }
  return Error{
      fmt::format("cannot find bulkhead's data (manifests/baseline.json): neither {} nor a "
                  "source tree above {} has it; install bulkhead whole, or set "
                  "BULKHEAD_DATA to the folder that holds manifests/",
                  installed, folder),
      ENOENT};
}

// Who may have written a file that bulkhead is about to believe.
enum class Trust {
  kUser,  // the user or root
  kRoot,  // root alone
  kData,  // shipped with bulkhead: whoever installed it
};

Status check_owner(const struct stat& status, const std::string& path, Trust trust) {
  const char* noun = S_ISDIR(status.st_mode) ? "folder" : "file";
  const uid_t user = ::geteuid();
  if (trust == Trust::kRoot && status.st_uid != 0)
    return Error{fmt::format("{} belongs to user {}, but an organisation's policy must belong to "
                             "root (chown root {})",
                             path, status.st_uid, path),
                 EPERM};
  if (trust == Trust::kUser && status.st_uid != user && status.st_uid != 0)
    return Error{
        fmt::format("{} belongs to user {}, who could have put anything there; the {} must "
                    "belong to you (user {}) or to root",
                    path, status.st_uid, noun, user),
        EPERM};
  // Shipped data may lie in a source tree, where a group of developers often may write.
  const mode_t others = trust == Trust::kData ? 0002 : 0022;
  // In a folder with the sticky bit others cannot replace a file that is not theirs.
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & others) != 0 && !sticky)
    // Of what is shipped all was made under one umask.
    return Error{fmt::format("{} can be written by other users (mode {:04o}): run chmod {}", path,
                             status.st_mode & 07777U,
                             trust == Trust::kData && !S_ISDIR(status.st_mode)
                                 ? fmt::format("-R go-w {}", parent_of(path))
                                 : fmt::format("go-w {}", path)),
                 EPERM};
  return {};
}

Result<std::string> read_all(const Fd& fd, const std::string& path, size_t expected) {
  std::string content;
  size_t size = 0;
  for (;;) {
    // One byte more, so that a file of the expected size ends with the second call.
    content.resize(std::max(size + 1, expected + 1));
    const ssize_t n = ::read(fd.get(), content.data() + size, content.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("read " + path);
    size += static_cast<size_t>(n);
    expected = 2 * size;
    if (size > json::kMaxBytes)
      return Error{fmt::format("cannot read {}: larger than {} bytes", path, json::kMaxBytes),
                   EFBIG};
    if (n == 0) break;
  }
  content.resize(size);
  return content;
}

// The bytes of a trusted file; nullopt where there is none. What is checked is what is read: the
// open file, not its name.
Result<std::optional<std::string>> read_trusted(const std::string& path, Trust trust) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    Error error = errno_error("open " + path);
    // As under sudo -u and su, which may leave HOME another user's.
    if (error.errno_value == EACCES && trust == Trust::kUser)
      error.message +=
          "; where that is another user's, set HOME or XDG_CONFIG_HOME to a folder of yours";
    return error;
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return errno_error("stat " + path);
  if (!S_ISREG(status.st_mode))
    return Error{fmt::format("cannot read {}: not a regular file", path), EINVAL};
  BULKHEAD_CHECK(check_owner(status, path, trust));
  const auto expected = std::min(static_cast<size_t>(status.st_size), json::kMaxBytes);
  const std::string folder(parent_of(path));
  if (::stat(folder.c_str(), &status) != 0) return errno_error("stat " + folder);
  BULKHEAD_CHECK(check_owner(status, folder, trust));
  BULKHEAD_TRY(std::string bytes, read_all(fd, path, expected));
  return std::optional<std::string>(std::move(bytes));
}

// `name` below manifests/. What it says was parsed when bulkhead was built, unless it is another
// file by now.
template <typename T, typename Parse>
Result<T> load_file(const Places& places, const std::string& name, Parse parse) {
  const std::string path = places.data + "/manifests/" + name;
  BULKHEAD_TRY(std::optional<std::string> bytes, read_trusted(path, Trust::kData));
  if (!bytes)
    return Error{
        fmt::format("{} is missing: bulkhead's data are incomplete; install it again", path),
        ENOENT};
  for (const FrozenFile& file : frozen_files()) {
    if (file.name != name || file.bytes != *bytes) continue;
    T said;
    thaw(file.frozen, path, said);
    return said;
  }
  return parse(ManifestBytes::of(path, std::move(*bytes)));
}

// Names of the *.json files in a folder, sorted.
Result<std::vector<std::string>> json_files(const std::string& folder) {
  const auto close = [](DIR* dir) { ::closedir(dir); };
  const std::unique_ptr<DIR, decltype(close)> dir(::opendir(folder.c_str()), close);
  if (!dir) return errno_error("open " + folder);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const struct dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.size() > 5 && name.ends_with(".json") && name[0] != '.') names.emplace_back(name);
  }
  if (errno != 0) return errno_error("read " + folder);
  std::sort(names.begin(), names.end());
  return names;
}

Status add_set(const Places& places, const std::string& name, Sets& sets) {
  BULKHEAD_TRY(Sets one, load_file<Sets>(places, "sets/" + name, parse_set));
  for (auto& [set, paths] : one) {
    // The file's name is the set's, so that a set is found without reading all of them.
    if (set + ".json" != name)
      return Error{fmt::format("{}/manifests/sets/{} defines the set \"{}\": rename the file to "
                               "{}.json",
                               places.data, name, set, set),
                   EINVAL};
    sets.emplace(set, std::move(paths));
  }
  return {};
}

Result<Sets> load_all_sets(const Places& places) {
  Sets sets;
  BULKHEAD_TRY(const auto names, json_files(places.data + "/manifests/sets"));
  for (const std::string& name : names) BULKHEAD_CHECK(add_set(places, name, sets));
  return sets;
}

}  // namespace

Result<Places> find_places() {
  Places places;
  BULKHEAD_TRY(places.home, home_folder());
  BULKHEAD_TRY(places.program, own_program());
  BULKHEAD_TRY(places.data, data_folder(places.program));
  std::string config = absolute_variable("XDG_CONFIG_HOME");
  if (config.empty()) config = join(places.home, ".config");
  places.config = join(config, "bulkhead");
  std::string state = absolute_variable("XDG_STATE_HOME");
  if (state.empty()) state = join(places.home, ".local/state");
  places.state = join(state, "bulkhead");
  places.runtime = absolute_variable("XDG_RUNTIME_DIR");
  if (places.runtime.empty()) {
    // Not only a convenience: the blocklist's rules about sockets are dropped where it is empty.
    const std::string usual = fmt::format("/run/user/{}", ::geteuid());
    if (is_folder(usual)) places.runtime = usual;
  }
  return places;
}

std::vector<std::string> own_files(const Places& places, const std::string& server) {
  const std::string data = follow_links(places.data), state = follow_links(places.state);
  std::vector<std::string> files = {places.program};
  if (is_source_tree(places)) {
    // With Node and VS Code's server, where they were installed into the source tree.
    files.insert(files.end(), {data + "/manifests", data + "/node_modules", data + "/vscode"});
  } else {
    // What starts the editor, and the JavaScript sandbox with its addons.
    files.insert(files.end(), {data, installed_addons(places)});
  }
  if (!server.empty()) files.push_back(server);
  // Node looks for packages in every folder above as well. The edited copies are in the state.
  for (const std::string& folder : {data, state, server})
    for (std::string_view above = folder; above.size() > 1;) {
      above = parent_of(above);
      if (const std::string modules = join(above, "node_modules");
          std::find(files.begin(), files.end(), modules) == files.end())
        files.push_back(modules);
    }
  return files;
}

std::string installed_addons(const Places& places) {
  return join(parent_of(parent_of(places.program)), "lib/bulkhead");
}

bool is_source_tree(const Places& places) {
  return ::access((places.data + "/CMakeLists.txt").c_str(), F_OK) == 0;
}

Result<Sets> load_sets(const Places& places, const std::vector<std::string>& names) {
  const std::string folder = places.data + "/manifests/sets";
  Sets sets;
  for (const std::string& name : names) {
    if (sets.contains(name)) continue;
    const bool is_name = !name.empty() && name[0] != '.' && name.find('/') == std::string::npos &&
                         name.find('\0') == std::string::npos;
    const std::string file = name + ".json";
    if (!is_name || ::access(join(folder, file).c_str(), F_OK) != 0) return load_all_sets(places);
    BULKHEAD_CHECK(add_set(places, file, sets));
  }
  return sets;
}

Result<Shipped> load_shipped(const Places& places, LoadSets which) {
  Shipped shipped;
  BULKHEAD_TRY(shipped.baseline, load_file<Manifest>(places, "baseline.json", parse_manifest));
  BULKHEAD_TRY(shipped.essentials, load_file<Manifest>(places, "essentials.json", parse_manifest));
  if (which == LoadSets::kAll) {
    BULKHEAD_TRY(shipped.sets, load_all_sets(places));
  }
  const auto parse_builtin = [](const ManifestBytes& bytes) {
    return parse_blocklist(bytes, Blocklist::Source::kBuiltin);
  };
  BULKHEAD_TRY(Blocklist blocklist, load_file<Blocklist>(places, "blocklist.json", parse_builtin));
  shipped.blocklists.push_back(std::move(blocklist));
  const auto add = [&](const std::string& path, Trust trust, Blocklist::Source source) -> Status {
    BULKHEAD_TRY(std::optional<std::string> bytes, read_trusted(path, trust));
    if (!bytes) return {};
    BULKHEAD_TRY(Blocklist list,
                 parse_blocklist(ManifestBytes::of(path, std::move(*bytes)), source));
    shipped.blocklists.push_back(std::move(list));
    return {};
  };
  BULKHEAD_CHECK(add(places.organisation, Trust::kRoot, Blocklist::Source::kOrganisation));
  BULKHEAD_CHECK(add(places.config + "/policy.json", Trust::kUser, Blocklist::Source::kUser));
  const auto parse_telemetry = [](const ManifestBytes& bytes) {
    return parse_blocklist(bytes, Blocklist::Source::kTelemetry);
  };
  BULKHEAD_TRY(Blocklist telemetry,
               load_file<Blocklist>(places, "telemetry.json", parse_telemetry));
  shipped.blocklists.push_back(std::move(telemetry));
  return shipped;
}

std::string folder_name_of(const std::string& subject) {
  std::string name;
  for (const char c : std::string(last_of("/" + subject)).substr(0, 40)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? c : '_';
  }
  const std::string digest = ManifestBytes::of("", subject).digest();
  return name + "-" + digest.substr(0, 16);
}

Result<std::optional<std::string>> read_users_own(const std::string& path) {
  return read_trusted(path, Trust::kUser);
}

Result<std::optional<std::string>> read_shipped_file(const std::string& path) {
  return read_trusted(path, Trust::kData);
}

}  // namespace bulkhead
