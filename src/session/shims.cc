#include "session/shims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "base/path.h"
#include "policy/explain.h"
#include "policy/programs.h"

namespace bulkhead {
namespace {

constexpr std::string_view kMark = "#!/bin/sh\n# made by bulkhead shim: ";
constexpr size_t kMostText = 16 << 10;

// As one word for any POSIX shell: shell_word() may write what dash does not read.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// What a shell passes on as one word, and no shell reads as anything else.
bool is_plain(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '+';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), plain) &&
         name.front() != '-' && name.front() != '.';
}

// By find(): g++ 12 takes what is known after starts_with() for a short string's bounds.
bool is_shim(const std::string& text) { return text.find(kMark) == 0; }

// The text of the shim there; empty where nothing has that name.
Result<std::string> shim_at(const std::string& file) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::string();
    return errno_error("look at " + file);
  }
  if (S_ISREG(status.st_mode) && static_cast<size_t>(status.st_size) <= kMostText) {
    Result<std::string> text = read_file(file, kMostText);
    if (!text.ok() || is_shim(*text)) return text;
  }
  return Error{file + " was not made by bulkhead shim, and stays as it is: move it elsewhere"};
}

// Whoever may write the folder says what the person's commands are.
Status only_mine(const std::string& folder) {
  struct stat status = {};
  if (::lstat(folder.c_str(), &status) != 0) return errno_error("look at " + folder);
  if (!S_ISDIR(status.st_mode)) return Error{folder + " is no folder: remove it", ENOTDIR};
  if (status.st_uid != ::geteuid())
    return Error{folder + " belongs to another user: remove it", EPERM};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error{fmt::format("others may write {}: chmod 700 it, and look at what is there",
                             shell_word(folder)),
                 EPERM};
  return {};
}

bool same_folder(const struct stat& folder, std::string_view entry) {
  struct stat status = {};
  return entry.starts_with('/') && ::stat(std::string(entry).c_str(), &status) == 0 &&
         status.st_dev == folder.st_dev && status.st_ino == folder.st_ino;
}

}  // namespace

std::string shims_folder(const Places& places) {
  return places.home + "/.local/share/bulkhead/shims";
}

std::string path_without_shims(const std::string& path, const std::string& folder) {
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0) return path;
  std::string kept;
  std::string_view rest = path;
  for (bool first = true, last = false; !last;) {
    const size_t end = rest.find(':');
    last = end == std::string_view::npos;
    const std::string_view entry = rest.substr(0, end);
    if (!same_folder(status, entry)) {
      kept.append(first ? "" : ":").append(entry);
      first = false;
    }
    if (!last) rest.remove_prefix(end + 1);
  }
  return kept;
}

void leave_shims() {
  const char* const path = std::getenv("PATH");
  const auto places = find_places();
  if (path == nullptr || !places.ok()) return;
  const std::string kept = path_without_shims(path, shims_folder(*places));
  // An empty one would be the working folder.
  if (kept.empty())
    ::unsetenv("PATH");
  else if (kept != path)
    ::setenv("PATH", kept.c_str(), 1);
}

std::string Shims::file_of(const std::string& name) const { return folder_ + "/" + name; }

Result<bool> Shims::add(const std::string& name,
                        const std::vector<std::string>& search_path) const {
  if (!is_plain(name))
    return Error{fmt::format("\"{}\" is no name of a program: give one such as npm, without a path",
                             escape_for_display(name))};
  const auto found = find_program(name, search_path);
  if (!found)
    return Error{fmt::format("there is no program {} in PATH: install it first", name), ENOENT};
  if (name == "bulkhead" || last_of(*found) == "bulkhead")
    return Error{name + " is bulkhead itself, which a compartment does not start"};
  BULKHEAD_CHECK(make_directories(folder_, 0700));
  BULKHEAD_CHECK(only_mine(folder_));
  const std::string file = file_of(name);
  const std::string text = fmt::format("{}runs {} in a compartment\nexec {} run -- {} \"$@\"\n",
                                       kMark, name, single_quoted(program_), name);
  BULKHEAD_TRY(const std::string there, shim_at(file));
  if (there == text && ::access(file.c_str(), X_OK) == 0) return false;
  BULKHEAD_CHECK(write_file_atomically(file, text, 0755));
  return true;
}

Status Shims::remove(const std::string& name) const {
  if (!is_plain(name))
    return Error{fmt::format("\"{}\" is no name of a shim", escape_for_display(name))};
  const std::string file = file_of(name);
  BULKHEAD_TRY(const std::string there, shim_at(file));
  if (there.empty()) return Error{fmt::format("there is no shim {} in {}", name, folder_), ENOENT};
  if (::unlink(file.c_str()) != 0) return errno_error("remove " + file);
  return {};
}

Result<std::vector<std::string>> Shims::list() const {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator each(folder_, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    std::string name = each->path().filename().string();
    if (!is_plain(name)) continue;
    if (const auto there = shim_at(each->path().string()); there.ok() && !there->empty())
      names.push_back(std::move(name));
  }
  if (error) return errno_error("list " + folder_, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace bulkhead
