#include "session/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "base/fd.h"
#include "base/path.h"
#include "policy/explain.h"
#include "policy/homes.h"
#include "sandbox/kernel/openat2.h"
#include "session/script.h"

namespace bulkhead {
namespace {

bool is_file(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<std::string> real(const std::string& path) {
  // One step tells the usual case, no link on the way; realpath() takes one for each name.
  if (is_canonical(path)) {
    const Fd fd(openat2_raw(AT_FDCWD, path.c_str(), O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS));
    if (fd) return path;
    // A link before what is missing would have been met first, with ELOOP.
    if (errno == ENOENT) return errno_error(fmt::format("find {}", path));
  }
  const std::unique_ptr<char, decltype(&std::free)> text(realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (text == nullptr) return errno_error(fmt::format("find {}", path));
  return std::string(text.get());
}

// Code that no file holds is the command line that says it, in this folder: what the code names,
// other modules and programs, is looked up from there.
std::string command_in(const std::string& canonical, const std::vector<std::string>& command,
                       const std::string& folder) {
  constexpr size_t kMost = 4096;
  std::string text = canonical;
  for (size_t at = 1; at < command.size() && text.size() <= kMost; ++at)
    text.append(" ").append(shell_word(command[at]));
  text.append(" in ").append(folder);
  return text.size() <= kMost ? text : "";
}

// Whether what is read there may be another thing each time: a pipe, a descriptor by its name.
bool is_stream(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  return is_within(path, "/dev") || is_within(path, "/proc");
}

// Sets subject and answers_for.
void set_subject(Program& program, const std::vector<std::string>& command,
                 const std::string& folder) {
  program.subject = program.canonical;
  const Script script = script_of(last_of(program.canonical), command);
  switch (script.is) {
    case Script::Is::kNoScript:
      program.answers_for = program.subject;
      return;
    case Script::Is::kFile: {
      const std::string path = join(folder, script.word);
      if (auto found = real(path); found.ok() && is_file(*found))
        program.subject = program.answers_for = std::move(*found);
      else if (!is_stream(path))  // a folder, or a name that the interpreter makes more of
        program.answers_for = command_in(program.canonical, command, folder);
      return;
    }
    case Script::Is::kWords:
      program.answers_for = command_in(program.canonical, command, folder);
      return;
    case Script::Is::kUnknown:
      return;
  }
}

std::string own_folder_of(const std::string& subject, const std::vector<std::string>& search_path,
                          const std::vector<std::string>& homes) {
  if (const size_t at = subject.find("/node_modules/"); at != std::string::npos && at > 0)
    return subject.substr(0, at) + "/node_modules";
  for (std::string_view folder = parent_of(subject); folder != "/"; folder = parent_of(folder)) {
    if (!why_no_project(folder, homes).empty()) break;
    if (std::find(search_path.begin(), search_path.end(), folder) != search_path.end()) break;
    if (is_file(std::string(folder) + "/package.json")) return std::string(folder);
  }
  return subject;
}

// Each process's own entries of /proc have one name in rules, "/proc/self": not ours by its number.
std::string rule_spelling(std::string path) {
  const std::string own = fmt::format("/proc/{}", getpid());
  return is_within(path, own) ? path.replace(0, own.size(), "/proc/self") : path;
}

// "~", "$HOME", "${home}", "@set": what a shell or a manifest puts something else for.
bool looks_expanded(std::string_view name) {
  return !name.empty() && std::string_view("~$@").find(name.front()) != std::string_view::npos;
}

}  // namespace

Result<std::string> canonical_path(const std::string& folder, const std::string& path) {
  // realpath before normalize: ".." after a symlink is the parent of where the link leads.
  std::string whole = path.starts_with('/') ? path : folder + "/" + path;
  std::vector<std::string> missing;
  while (true) {
    auto found = real(whole);
    if (found.ok()) {
      // In quotes "~/x" is a name in this folder, which nobody means.
      if (const std::string first = path.substr(0, path.find('/'));
          !missing.empty() && missing.back() == first && looks_expanded(first))
        return Error{.message = fmt::format("nothing in this folder is called \"{}\", which is "
                                            "not expanded here; write ./{} for that very name",
                                            first, path),
                     .errno_value = ENOENT};
      std::string out = *found;
      for (auto name = missing.rbegin(); name != missing.rend(); ++name)
        out += (out.ends_with('/') ? "" : "/") + *name;
      return rule_spelling(std::move(out));
    }
    if (found.error().errno_value != ENOENT) return std::move(found).error();
    while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    struct stat status = {};
    if (lstat(whole.c_str(), &status) == 0)
      return Error{.message = fmt::format("{} is a symbolic link that leads nowhere", whole),
                   .errno_value = ENOENT};
    const size_t slash = whole.rfind('/');
    std::string name = whole.substr(slash + 1);
    whole.resize(slash == 0 ? 1 : slash);
    if (name == ".") continue;
    if (name == "..")
      return Error{.message = fmt::format("{}: \"..\" after a folder that does not exist", path),
                   .errno_value = ENOENT};
    missing.push_back(std::move(name));
  }
}

std::string canonical_or_same(const std::string& path) {
  if (path.empty()) return path;
  auto found = canonical_path("/", path);
  return found.ok() ? *found : normalize(path);
}

Result<Program> find_program(const std::vector<std::string>& command, const std::string& folder,
                             const std::vector<std::string>& search_path,
                             const std::vector<std::string>& homes) {
  const std::string& name = command.front();
  if (name.empty())
    return Error{.message = "cannot run \"\": a program needs a name", .errno_value = ENOENT};
  Program program;
  if (name.find('/') != std::string::npos) {
    program.path = name.starts_with('/') ? name : folder + "/" + name;
    struct stat status = {};
    if (stat(program.path.c_str(), &status) != 0) return errno_error(fmt::format("run {}", name));
    if (S_ISDIR(status.st_mode)) return errno_error(fmt::format("run {}", name), EISDIR);
    if (access(program.path.c_str(), X_OK) != 0) return errno_error(fmt::format("run {}", name));
  } else {
    bool not_executable = false;
    for (const std::string& place : search_path) {
      std::string candidate = fmt::format("{}/{}", place, name);
      if (!is_file(candidate)) continue;
      if (access(candidate.c_str(), X_OK) == 0) {
        program.path = std::move(candidate);
        break;
      }
      not_executable = true;
    }
    if (program.path.empty()) {
      if (not_executable) return errno_error(fmt::format("run {}", name), EACCES);
      return Error{
          .message = fmt::format("cannot run {}: no folder of PATH holds it; give its path", name),
          .errno_value = ENOENT};
    }
  }
  BULKHEAD_TRY(program.canonical, real(program.path));
  set_subject(program, command, folder);
  program.own_folder = own_folder_of(program.subject, search_path, homes);
  return program;
}

}  // namespace bulkhead
