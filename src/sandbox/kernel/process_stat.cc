#include "sandbox/kernel/process_stat.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "base/fd.h"
#include "base/stat_line.h"

namespace bulkhead {
namespace {

constexpr size_t kLongest = 4096;

// The fields behind the name, from `state` to `starttime`.
constexpr size_t kState = 3;
constexpr size_t kParent = 4;
constexpr size_t kGroup = 5;
constexpr size_t kSession = 6;
constexpr size_t kForeground = 8;
constexpr size_t kUser = 14;  // then system, children's user, children's system
constexpr size_t kStart = 22;

}  // namespace

std::optional<ProcessStat> parse_stat(std::string_view text) {
  text = behind_name(text);
  std::array<std::string_view, kStart + 1> fields{};
  for (size_t i = kState; i <= kStart; ++i) {
    const size_t end = text.find_first_of(" \n");
    fields[i] = text.substr(0, end);
    if (fields[i].empty()) return std::nullopt;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  bool numbers = true;
  const auto number = [&](size_t field, auto* value) {
    const std::string_view its = fields[field];
    const auto [end, error] = std::from_chars(its.data(), its.data() + its.size(), *value);
    numbers &= error == std::errc() && end == its.data() + its.size();
  };
  ProcessStat stat{.state = fields[kState].front()};
  std::array<uint64_t, 4> ticks{};
  number(kParent, &stat.parent);
  number(kGroup, &stat.group);
  number(kSession, &stat.session);
  number(kForeground, &stat.foreground);
  for (size_t i = 0; i < ticks.size(); ++i) number(kUser + i, &ticks[i]);
  number(kStart, &stat.start_ticks);
  if (!numbers) return std::nullopt;
  stat.own_ticks = ticks[0] + ticks[1];
  stat.children_ticks = ticks[2] + ticks[3];
  return stat;
}

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::optional<ProcessStat> stat_of(const std::string& folder) {
  const auto text = read_file(folder + "/stat", kLongest);
  return text.ok() ? parse_stat(*text) : std::nullopt;
}

std::optional<std::vector<pid_t>> numbers_in(int proc, const char* name) {
  const int folder = ::openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return std::nullopt;
  DIR* const stream = ::fdopendir(folder);
  if (stream == nullptr) {
    const int error = errno;
    ::close(folder);
    errno = error;
    return std::nullopt;
  }
  std::vector<pid_t> found;
  while (const dirent* entry = ::readdir(stream)) {
    char* rest = nullptr;
    const long number = std::strtol(entry->d_name, &rest, 10);
    if (number > 0 && *rest == '\0') found.push_back(static_cast<pid_t>(number));
  }
  ::closedir(stream);
  return found;
}

std::vector<pid_t> numbers_in(const std::string& folder) {
  return numbers_in(AT_FDCWD, folder.c_str()).value_or(std::vector<pid_t>());
}

bool is_orphaned(pid_t group) {
  for (const pid_t pid : numbers_in("/proc")) {
    const auto its = stat_of(folder_of(pid));
    if (!its || its->group != group || its->state == 'Z') continue;
    const auto above = stat_of(folder_of(its->parent));
    if (above && above->session == its->session && above->group != group) return false;
  }
  return true;
}

bool has_signal(const std::string& folder, std::initializer_list<std::string_view> sets,
                int signal) {
  const auto text = read_file(folder + "/status", 16384);
  if (!text.ok()) return false;
  for (const std::string_view set : sets) {
    const size_t at = text->find("\n" + std::string(set) + ":\t");
    if (at == std::string::npos) continue;
    const uint64_t mask = std::strtoull(text->c_str() + at + set.size() + 3, nullptr, 16);
    if ((mask >> static_cast<unsigned>(signal - 1) & 1U) != 0) return true;
  }
  return false;
}

}  // namespace bulkhead
