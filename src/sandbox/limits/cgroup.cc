#include "sandbox/limits/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/fd.h"
#include "base/path.h"
#include "sandbox/kernel/process_stat.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxText = size_t{4} << 20U;
constexpr std::string_view kPrefix = "bulkhead-";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool has_word(std::string_view text, std::string_view word) {
  for (const std::string_view line : split(text, '\n'))
    for (const std::string_view part : split(line, ' '))
      if (part == word) return true;
  return false;
}

// proc_pid_mountinfo(5) writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 3, value, 8).ptr == &text[i + 1] + 3) {
      result += static_cast<char>(value);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Where our own cgroup `own` of a hierarchy stands under its mount; empty where it is outside.
std::string folder_of(const CgroupMount& mount, const std::string& own) {
  if (!is_canonical(own) || !is_canonical(mount.root) || !is_within(own, mount.root)) return {};
  const std::string_view below =
      mount.root == "/" ? own : std::string_view(own).substr(mount.root.size());
  return below.empty() || below == "/" ? mount.point : mount.point + std::string(below);
}

bool is_writable(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

// True where children of `folder` have the controller, after switching it on where that is allowed.
bool gives_controller(const std::string& folder, const std::string& controller) {
  const std::string control = folder + "/cgroup.subtree_control";
  const Result<std::string> on = read_file(control, kMaxText);
  if (!on.ok()) return false;
  if (has_word(*on, controller)) return true;
  const Result<std::string> known = read_file(folder + "/cgroup.controllers", kMaxText);
  if (!known.ok() || !has_word(*known, controller)) return false;
  const Fd fd(::open(control.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string text = "+" + controller;
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Result<uint64_t> start_of(pid_t pid) {
  const auto stat = stat_of("/proc/" + std::to_string(pid));
  if (!stat) return errno_error("read /proc", ESRCH);
  return stat->start_ticks;
}

uint64_t pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

void remove_left_behind(const std::string& parent) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(parent.c_str()));
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    // rmdir refuses a cgroup that has processes.
    if (is_left_behind(entry->d_name)) ::rmdir((parent + "/" + entry->d_name).c_str());
  }
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    // ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [OPTIONAL …] - TYPE SOURCE SUPER
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto left = split(line.substr(0, dash), ' ');
    const auto right = split(line.substr(dash + 3), ' ');
    if (left.size() < 6 || right.size() < 3) continue;
    if (right[0] != "cgroup" && right[0] != "cgroup2") continue;
    CgroupMount& mount = mounts.emplace_back();
    mount.version = right[0] == "cgroup" ? 1 : 2;
    mount.root = unescape(left[3]);
    mount.point = unescape(left[4]);
    if (mount.version == 1)
      for (const std::string_view option : split(right[2], ','))
        mount.controllers.emplace_back(option);
  }
  return mounts;
}

std::map<std::string, std::string> parse_own_cgroups(std::string_view text) {
  std::map<std::string, std::string> own;
  for (const std::string_view line : split(text, '\n')) {
    // ID:CONTROLLERS:PATH; the path may hold colons.
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    for (const std::string_view controller : split(line.substr(first + 1, second - first - 1), ','))
      own.emplace(controller, line.substr(second + 1));
  }
  return own;
}

std::string own_cgroup_folder(std::string_view mountinfo, std::string_view own) {
  const auto paths = parse_own_cgroups(own);
  const auto path = paths.find("");
  if (path == paths.end()) return {};
  for (const CgroupMount& mount : parse_cgroup_mounts(mountinfo))
    if (mount.version == 2) return folder_of(mount, path->second);
  return {};
}

Result<CgroupParent> find_cgroup_parent(const std::string& controller) {
  BULKHEAD_TRY(const std::string mounts, read_file("/proc/self/mountinfo", kMaxText));
  BULKHEAD_TRY(const std::string own, read_file("/proc/self/cgroup", kMaxText));
  return find_cgroup_parent(controller, mounts, own, "");
}

Result<CgroupParent> find_cgroup_parent(const std::string& controller, std::string_view mountinfo,
                                        std::string_view own, const std::string& prefix) {
  const std::map<std::string, std::string> paths = parse_own_cgroups(own);
  bool mounted = false;
  for (const CgroupMount& mount : parse_cgroup_mounts(mountinfo)) {
    const auto path = paths.find(mount.version == 1 ? controller : "");
    if (path == paths.end()) continue;
    std::string folder = folder_of(mount, path->second);
    if (folder.empty()) continue;
    if (mount.version == 1) {
      if (std::find(mount.controllers.begin(), mount.controllers.end(), controller) ==
          mount.controllers.end())
        continue;
      mounted = true;
      if (is_writable(prefix + folder)) return CgroupParent{1, prefix + folder};
      continue;
    }
    mounted = true;
    for (;; folder = std::string(parent_of(folder))) {
      // Moving a process needs the right to write cgroup.procs of the common ancestor (cgroups(7),
      // delegation), which is this folder, as it is above us.
      if (is_writable(prefix + folder) && is_writable(prefix + folder + "/cgroup.procs") &&
          (controller == "cpuacct" || gives_controller(prefix + folder, controller)))
        return CgroupParent{2, prefix + folder};
      if (folder == mount.point || folder == "/") break;
    }
  }
  if (mounted)
    return Error{
        fmt::format("no cgroup with the {} controller may be written by this user", controller),
        EACCES};
  return Error{fmt::format("no cgroup with the {} controller is mounted", controller), ENOENT};
}

Result<Cgroup> Cgroup::make(const CgroupParent& parent) {
  remove_left_behind(parent.path);
  static std::atomic<unsigned> next = 0;  // one supervisor may keep several compartments
  const std::string path =
      fmt::format("{}/{}-{}", parent.path, cgroup_name_of(::getpid()), next.fetch_add(1));
  if (::mkdir(path.c_str(), 0755) != 0) return errno_error("make the cgroup " + path);
  return Cgroup(parent.version, path);
}

Cgroup::~Cgroup() {
  if (path_.empty()) return;
  // A process that was just reaped may be counted for some milliseconds more. What stays is removed
  // by the next supervisor.
  for (int i = 0; i < 50; ++i) {
    if (::rmdir(path_.c_str()) == 0 || errno != EBUSY) return;
    ::usleep(2000);
  }
}

Status Cgroup::write(const char* file, const std::string& value) const {
  const std::string path = path_ + "/" + file;
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno_error("open " + path);
  if (::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
    return errno_error(fmt::format("write {} to {}", value, path));
  return {};
}

Result<std::string> Cgroup::read(const char* file) const {
  return read_file(path_ + "/" + file, kMaxText);
}

bool Cgroup::has(const char* file) const {
  return ::access((path_ + "/" + file).c_str(), F_OK) == 0;
}

Status Cgroup::add(pid_t pid) const { return write("cgroup.procs", fmt::format("{}", pid)); }

std::string cgroup_name_of(pid_t supervisor) {
  const Result<uint64_t> start = start_of(supervisor);
  return fmt::format("{}{}-{}-{}", kPrefix, pid_namespace(), supervisor, start.ok() ? *start : 0);
}

bool is_left_behind(std::string_view cgroup_name) {
  if (!cgroup_name.starts_with(kPrefix)) return false;
  const auto parts = split(cgroup_name.substr(kPrefix.size()), '-');
  if (parts.size() != 4) return false;
  std::array<uint64_t, 3> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view part = parts[i];
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), numbers[i]);
    if (error != std::errc() || end != part.data() + part.size()) return false;
  }
  if (numbers[0] != pid_namespace()) return false;
  const Result<uint64_t> start = start_of(static_cast<pid_t>(numbers[1]));
  return !start.ok() || *start != numbers[2];
}

}  // namespace bulkhead
