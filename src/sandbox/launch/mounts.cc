#include "sandbox/launch/mounts.h"

#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>

#include "base/fd.h"
#include "base/path.h"
#include "sandbox/home/spare_folders.h"
#include "sandbox/limits/cgroup.h"

namespace bulkhead {
namespace {

// How many of these a quarter of the limit on memory can hold.
uint64_t within(const Limits& limits, uint64_t bytes, uint64_t most) {
  return limits.memory ? std::clamp<uint64_t>(*limits.memory / 4 / bytes, 1, most) : most;
}

// inotify(7). A user has 128 instances in all, and a number of watches; editors outside that get
// none see no file change. What an instance holds until somebody reads it is counted nowhere, nor
// are the files that are watched, which the kernel keeps.
void plan_inotify(const Limits& limits, MountOrders<Written>& setup) {
  constexpr uint64_t kInstances = 32, kEvent = 512 /* with a long name */, kWatch = 1536;
  const auto setting = [](const char* path) -> uint64_t {
    const auto text = read_file(path, 32);
    uint64_t value = 0;
    if (text.ok()) (void)std::from_chars(text->data(), text->data() + text->size(), value);
    return value;
  };
  // A kernel without inotify. What cannot be read otherwise leaves one of each.
  if (::access("/proc/sys/fs/inotify", F_OK) != 0 && errno == ENOENT) return;
  const uint64_t watches = setting("/proc/sys/fs/inotify/max_user_watches");
  const uint64_t queue = std::max<uint64_t>(setting("/proc/sys/fs/inotify/max_queued_events"), 1);
  setup.inotify_instances = std::to_string(within(limits, queue * kEvent, kInstances));
  setup.inotify_watches =
      std::to_string(within(limits, kWatch, std::max<uint64_t>(watches / 2, 1)));
}

// Whether this user namespace knows the group; what it does not shows as another's.
bool has_group(gid_t group) {
  std::ifstream map("/proc/self/gid_map");
  for (uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;)
    if (group >= inside && group < inside + count) return true;
  return false;
}

}  // namespace

MountOrders<Written> prepare_mounts(const Plan& plan, bool as_root) {
  MountOrders<Written> setup;
  plan_inotify(plan.limits, setup);
  setup.as_root = as_root;
  if (plan.home) {
    setup.home = plan.home->home();
    setup.home_store = plan.home->store();
    setup.home_spare = spare_of(plan.home->store());
    setup.home_real = plan.home->real();
  }
  std::vector<std::string> trees;
  if (plan.private_tmp) trees.emplace_back("/tmp");
  if (plan.private_shm) trees.emplace_back("/dev/shm");
  for (const std::string& path : trees) {
    PrivateTreeOrder<Written> tree;
    tree.path = path;
    // Memory, so the memory limit bounds it; without one, the kernel's default: half of the RAM.
    tree.options =
        plan.limits.memory ? fmt::format("mode=1777,size={}", *plan.limits.memory) : "mode=1777";
    const auto make_parents = [&tree, &path](std::string_view place) {
      std::vector<std::string> parents;
      for (std::string_view up = parent_of(place); up != path; up = parent_of(up)) {
        parents.emplace_back(up);
      }
      tree.folders.insert(tree.folders.end(), parents.rbegin(), parents.rend());
    };
    if (plan.home && is_within(plan.home->home(), path)) {
      make_parents(plan.home->home());
      tree.folders.push_back(plan.home->home());
    }
    for (const std::string& bind : plan.binds) {
      if (bind == path || !is_within(bind, path)) continue;
      if (plan.home && is_within(bind, plan.home->home())) continue;  // bound there
      tree.binds.push_back({bind, bind});
      make_parents(bind);
    }
    for (const KeptFolder& kept : plan.kept)
      if (parent_of(kept.place) == path) tree.binds.push_back({kept.source, kept.place});
    setup.private_trees.push_back(std::move(tree));
  }
  setup.hidden = plan.hidden;
  // Where this cannot be read, neither can it be below, and nothing is made.
  if (const auto mounts = read_file("/proc/self/mountinfo", size_t{16} << 20U); mounts.ok()) {
    for (CgroupMount& mount : parse_cgroup_mounts(*mounts)) {
      if (!is_within(mount.point, "/sys")) setup.cgroups.push_back(std::move(mount.point));
    }
  }

  char target[PATH_MAX];
  // Without the file, libc asks 127.0.0.1 by itself.
  if (::realpath("/etc/resolv.conf", target) != nullptr) {
    setup.resolv_conf = target;
    for (const std::string& path : trees) {
      if (is_within(setup.resolv_conf, path)) setup.resolv_conf.clear();
    }
  }
  struct stat status;
  if (::stat("/dev/pts", &status) == 0 && S_ISDIR(status.st_mode)) {
    constexpr uint64_t kTerminal = uint64_t{40} << 10U, kMany = 1U << 20U;
    setup.devpts_options = fmt::format("newinstance,ptmxmode=0666,mode=0620,max={}",
                                       within(plan.limits, kTerminal, kMany));
    // The group of terminals, as far as it exists in there: in a rootless container it may be
    // nobody's.
    if (as_root && ::stat("/dev/tty", &status) == 0 && has_group(status.st_gid)) {
      setup.devpts_options += fmt::format(",gid={}", status.st_gid);
    }
    setup.cover_ptmx = ::lstat("/dev/ptmx", &status) == 0 && S_ISCHR(status.st_mode);
  }
  setup.cover_queues = ::lstat("/dev/mqueue", &status) == 0 && S_ISDIR(status.st_mode);
  return setup;
}

}  // namespace bulkhead
