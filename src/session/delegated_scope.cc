#include "session/delegated_scope.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include "base/fd.h"
#include "base/path.h"
#include "sandbox/limits/cgroup.h"
#include "session/service_manager.h"

namespace bulkhead {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxText = size_t{4} << 20U;
constexpr const char* kMounts = "/proc/self/mountinfo";
constexpr std::chrono::milliseconds kLook{2};

Result<std::string> own_cgroup() { return read_file("/proc/self/cgroup", kMaxText); }

// Of version 2, as the machine names it.
std::string path_of(const std::string& own) {
  const auto paths = parse_own_cgroups(own);
  const auto found = paths.find("");
  return found == paths.end() ? "" : found->second;
}

// A cgroup with processes has no controllers for others below it (cgroups(7)), so we leave it for
// one beside the compartment's.
Status step_aside(const std::string& scope) {
  const std::string folder = scope + "/supervisor";
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return errno_error("make the cgroup " + folder);
  const std::string file = folder + "/cgroup.procs";
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), "0", 1) != 1) return errno_error("enter the cgroup " + folder);
  return {};
}

bool outlives_login() {
  struct sigaction now = {};
  return ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

bool is_unified(const std::string& controller, std::string_view mountinfo) {
  const auto mounts = parse_cgroup_mounts(mountinfo);
  const auto has = [&](const CgroupMount& mount) {
    return std::find(mount.controllers.begin(), mount.controllers.end(), controller) !=
           mount.controllers.end();
  };
  return std::none_of(mounts.begin(), mounts.end(), has) &&
         std::any_of(mounts.begin(), mounts.end(),
                     [](const CgroupMount& mount) { return mount.version == 2; });
}

bool lacks_cgroup(const Limits& limits) {
  const auto mounts = read_file(kMounts, kMaxText);
  if (!mounts.ok()) return false;
  const auto lacks = [&](const char* controller) {
    return is_unified(controller, *mounts) && !find_cgroup_parent(controller).ok();
  };
  return (limits.memory && lacks("memory")) || (limits.cpu && lacks("cpu")) ||
         (limits.cpu_time && lacks("cpuacct"));
}

Status enter_delegated_scope(std::chrono::milliseconds patience, const ScopeSurroundings& here) {
  const Clock::time_point until = Clock::now() + patience;
  const std::string name = cgroup_name_of(::getpid()) + ".scope";
  BULKHEAD_CHECK(here.start(name, until));
  for (;; std::this_thread::sleep_for(kLook)) {
    BULKHEAD_TRY(const std::string own, here.own_cgroup());
    if (last_of(path_of(own)) == name) {
      const std::string folder = own_cgroup_folder(here.mountinfo, own);
      if (folder.empty()) return Error{"the scope is outside of what is mounted here", ENOENT};
      return step_aside(here.root + folder);
    }
    if (Clock::now() >= until)
      return Error{"the user's service manager did not move this process to its scope in time",
                   ETIMEDOUT};
  }
}

Status enter_delegated_scope(std::chrono::milliseconds patience) {
  if (outlives_login())
    return Error{"this process ignores SIGHUP, to outlive the login, which a scope would not"};
  BULKHEAD_TRY(std::string mounts, read_file(kMounts, kMaxText));
  return enter_delegated_scope(patience, {start_own_scope, own_cgroup, std::move(mounts), ""});
}

}  // namespace bulkhead
