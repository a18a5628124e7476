#include "sandbox/launch/mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "base/path.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/limits/cgroup.h"

namespace bulkhead {
namespace {

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr char kNameServer[] =
    "# made by bulkhead: names are looked up by the supervisor, for granted hosts\n"
    "nameserver 127.0.0.1\n"
    "options ndots:1\n";

// Where the files that cover others are made. /proc is there on every machine, and is mounted over
// for good later on.
constexpr char kStage[] = "/proc";
constexpr char kStageFile[] = "/proc/file";
constexpr char kStageFolder[] = "/proc/folder";
constexpr char kStageResolv[] = "/proc/resolv.conf";

int open_without_links(const char* path) noexcept {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

// A mount of the tree at `path` (with all that is mounted in it), not attached anywhere yet.
int clone_tree(const char* path) noexcept {
  const int place = open_without_links(path);
  if (place < 0) return -1;
  // AT_RECURSIVE also because the kernel refuses to leave out locked mounts: that would reveal
  // what they cover.
  const long tree = ::syscall(SYS_open_tree, place, "",
                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
  const int error = errno;
  ::close(place);
  errno = error;
  return static_cast<int>(tree);
}

// Attaches a tree over `path`, which must be there and hold no symlink: it might have been swapped.
int attach_tree(int tree, const char* path) noexcept {
  const int place = open_without_links(path);
  if (place < 0) return -1;
  const long done = ::syscall(SYS_move_mount, tree, "", place, "",
                              MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  const int error = errno;
  ::close(place);
  errno = error;
  return static_cast<int>(done);
}

int set_read_only(int tree, const char* path, unsigned flags) noexcept {
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  return static_cast<int>(::syscall(SYS_mount_setattr, tree, path, flags, &attr, sizeof attr));
}

int cover(const char* source, const char* target) noexcept {
  const int tree = clone_tree(source);
  if (tree < 0) return -1;
  const int done = attach_tree(tree, target);
  const int error = errno;
  ::close(tree);
  errno = error;
  return done;
}

bool write_file(const char* path, const char* text, unsigned mode) noexcept {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return false;
  const size_t size = std::strlen(text);
  const bool done =
      ::write(fd, text, size) == static_cast<ssize_t>(size) && ::fchmod(fd, mode) == 0;
  ::close(fd);
  return done;
}

bool write_setting(const char* path, const char* text) noexcept {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
  const int error = errno;
  ::close(fd);
  errno = error;
  return done;
}

bool limit_inotify(const MountSetup& setup) noexcept {
  if (setup.inotify_watches.empty()) return true;
  return write_setting("/proc/sys/user/max_inotify_instances", setup.inotify_instances.c_str()) &&
         write_setting("/proc/sys/user/max_inotify_watches", setup.inotify_watches.c_str());
}

// Safe: a tmpfs of our own user namespace, which nobody but this init has reached yet.
bool make_stage(const MountSetup& setup, Failure& failure) noexcept {
  if (::mount("bulkhead", kStage, "tmpfs", kPlain, "mode=0755,size=64k") != 0) {
    return failed(failure, "mount a tmpfs", kStage);
  }
  if (!write_file(kStageResolv, kNameServer, 0644) || !write_file(kStageFile, "", 0444)) {
    return failed(failure, "make a file in a tmpfs");
  }
  if (::mkdir(kStageFolder, 0555) != 0) return failed(failure, "make a folder in a tmpfs");
  // The whole file system becomes read-only, so that no name of it is ever writable.
  if (::mount("bulkhead", kStage, "tmpfs", MS_REMOUNT | MS_RDONLY | kPlain, nullptr) != 0) {
    return failed(failure, "make a tmpfs read-only");
  }
  if (!setup.resolv_conf.empty() && cover(kStageResolv, setup.resolv_conf.c_str()) != 0) {
    return failed(failure, "cover the resolver's configuration", setup.resolv_conf.c_str());
  }
  return true;
}

// Safe: binds only what the policy grants below the tree, at the very place it had, and folders of
// our own; only where no symlink leads there. Sources are taken before the tmpfs covers them.
bool mount_private(const MountSetup::PrivateTree& tree, Failure& failure) noexcept {
  constexpr size_t kMost = 64;
  int sources[kMost] = {};
  if (tree.binds.size() > kMost) {
    return failed_with(failure, E2BIG, "bind granted paths below", tree.path.c_str());
  }
  for (size_t i = 0; i < tree.binds.size(); ++i) {
    sources[i] = clone_tree(tree.binds[i].source.c_str());
    if (sources[i] < 0) return failed(failure, "bind", tree.binds[i].source.c_str());
  }
  if (::mount("tmpfs", tree.path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, tree.options.c_str()) !=
      0) {
    return failed(failure, "mount a tmpfs", tree.path.c_str());
  }
  for (const std::string& folder : tree.folders) {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return failed(failure, "make a folder", folder.c_str());
    }
  }
  for (size_t i = 0; i < tree.binds.size(); ++i) {
    const char* target = tree.binds[i].place.c_str();
    struct stat status;
    if (::fstat(sources[i], &status) != 0) return failed(failure, "bind", target);
    if (S_ISDIR(status.st_mode)) {
      if (::mkdir(target, 0755) != 0 && errno != EEXIST) return failed(failure, "bind", target);
    } else if (!write_file(target, "", 0600)) {
      return failed(failure, "bind", target);
    }
    if (attach_tree(sources[i], target) != 0) return failed(failure, "bind", target);
    ::close(sources[i]);
  }
  return true;
}

// Taken before anything covers them.
struct HomeTrees {
  static constexpr size_t kMost = 256;
  int store = -1;
  int real[kMost] = {};
};

bool take_home(const PrivateHome& home, HomeTrees& trees, Failure& failure) noexcept {
  if (home.real().size() > HomeTrees::kMost) {
    return failed_with(failure, E2BIG, "bind granted paths below", home.home().c_str());
  }
  trees.store = clone_tree(home.store().c_str());
  if (trees.store < 0) return failed(failure, "bind", home.store().c_str());
  for (size_t i = 0; i < home.real().size(); ++i) {
    trees.real[i] = clone_tree(home.real()[i].c_str());
    if (trees.real[i] < 0) return failed(failure, "bind", home.real()[i].c_str());
  }
  return true;
}

// Safe: covers the home folder by a folder of our own, and binds there what was there, at the very
// place it had; only where no symlink leads there.
bool mount_home(const PrivateHome& home, const HomeTrees& trees, Failure& failure) noexcept {
  if (attach_tree(trees.store, home.home().c_str()) != 0) {
    return failed(failure, "mount the private home", home.home().c_str());
  }
  ::close(trees.store);
  for (size_t i = 0; i < home.real().size(); ++i) {
    const char* target = home.real()[i].c_str();
    if (attach_tree(trees.real[i], target) != 0) return failed(failure, "bind", target);
    ::close(trees.real[i]);
  }
  return true;
}

bool mount_terminals(const MountSetup& setup, Failure& failure) noexcept {
  if (setup.devpts_options.empty()) return true;
  // Safe: a new instance has no terminals yet, and shows those of this compartment alone.
  if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              setup.devpts_options.c_str()) != 0) {
    return failed(failure, "mount /dev/pts");
  }
  if (setup.cover_ptmx && cover("/dev/pts/ptmx", "/dev/ptmx") != 0) {
    return failed(failure, "cover /dev/ptmx");
  }
  return true;
}

bool mount_queues(const MountSetup& setup, Failure& failure) noexcept {
  if (!setup.cover_queues) return true;
  const int queues = open_queues();
  // Safe: the queues of our own IPC namespace, which are none yet.
  const bool done = queues < 0 ? errno == ENODEV
                               : attach_tree(queues, "/dev/mqueue") == 0;  // ENODEV: not built in
  if (!done) return failed(failure, "mount /dev/mqueue");
  if (queues >= 0) ::close(queues);
  return true;
}

bool mount_proc(const MountSetup& setup, Failure& failure) noexcept {
  // Safe: shows the processes of our own pid namespace. The kernel allows it where the surrounding
  // /proc is shown whole, so it reveals nothing new.
  if (::mount("proc", "/proc", "proc", kPlain, nullptr) != 0) return failed(failure, "mount /proc");
  // Behind the filter: no user namespace can be made below ours. Safe: the number counts for this
  // user namespace alone (namespaces(7)).
  if (!write_setting("/proc/sys/user/max_user_namespaces", "0") && errno != ENOENT) {
    return failed(failure, "forbid further user namespaces");
  }
  if (!limit_inotify(setup)) return failed(failure, "limit", "watches");
  // Root may bind low ports; without CAP_NET_BIND_SERVICE that takes this. Of this network
  // namespace alone. Not vital, so a failure is none.
  if (setup.as_root) write_setting("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
  // Root's id is the machine's root here too, and these files ask for the id, not a capability.
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                           "/proc/acpi", "/proc/mtrr", "/proc/fs", "/proc/scsi"}) {
    const int tree = clone_tree(path);
    if (tree < 0) {
      if (errno == ENOENT) continue;
      return failed(failure, "make read-only", path);
    }
    const bool done = set_read_only(tree, "", AT_EMPTY_PATH) == 0 && attach_tree(tree, path) == 0;
    if (!done) return failed(failure, "make read-only", path);
    ::close(tree);
  }
  return true;
}

// How many of these a quarter of the limit on memory can hold.
uint64_t within(const Limits& limits, uint64_t bytes, uint64_t most) {
  return limits.memory ? std::clamp<uint64_t>(*limits.memory / 4 / bytes, 1, most) : most;
}

// inotify(7). A user has 128 instances in all, and a number of watches; editors outside that get
// none see no file change. What an instance holds until somebody reads it is counted nowhere, nor
// are the files that are watched, which the kernel keeps.
void plan_inotify(const Limits& limits, MountSetup& setup) {
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

MountSetup prepare_mounts(const Plan& plan, bool as_root) {
  MountSetup setup;
  plan_inotify(plan.limits, setup);
  setup.as_root = as_root;
  setup.home = plan.home;
  std::vector<std::string> trees;
  if (plan.private_tmp) trees.emplace_back("/tmp");
  if (plan.private_shm) trees.emplace_back("/dev/shm");
  for (const std::string& path : trees) {
    MountSetup::PrivateTree tree;
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
      if (parent_of(kept.place) == path) tree.binds.push_back(kept);
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

bool leave_outer_mounts(Failure& failure) noexcept {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ||
         failed(failure, "make mounts private");
}

bool mount_trees(const MountSetup& setup, Failure& failure) noexcept {
  HomeTrees home;
  if (setup.home && !take_home(*setup.home, home, failure)) return false;
  if (!make_stage(setup, failure)) return false;
  for (const MountSetup::PrivateTree& tree : setup.private_trees) {
    if (!mount_private(tree, failure)) return false;
  }
  if (setup.home && !mount_home(*setup.home, home, failure)) return false;
  if (!mount_terminals(setup, failure) || !mount_queues(setup, failure)) return false;
  for (const std::string& path : setup.hidden) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) continue;  // a private tree covers it
      return failed(failure, "hide", path.c_str());
    }
    if (cover(S_ISDIR(status.st_mode) ? kStageFolder : kStageFile, path.c_str()) != 0) {
      return failed(failure, "hide", path.c_str());
    }
  }
  return ::umount2(kStage, MNT_DETACH) == 0 || failed(failure, "unmount a tmpfs", kStage);
}

bool mount_system(const MountSetup& setup, Failure& failure) noexcept {
  if (!mount_proc(setup, failure)) return false;
  // Root could switch devices through it, and whoever may write a cgroup could leave its own. No
  // manifest and no option lifts this. EINVAL: nothing is mounted there.
  if (set_read_only(AT_FDCWD, "/sys", AT_RECURSIVE) != 0 && errno != EINVAL && errno != ENOENT) {
    return failed(failure, "make read-only", "/sys");
  }
  for (const std::string& path : setup.cgroups) {
    // ENOENT: a private tree covers it.
    if (set_read_only(AT_FDCWD, path.c_str(), AT_RECURSIVE) != 0 && errno != ENOENT) {
      return failed(failure, "make read-only", path.c_str());
    }
  }
  return true;
}

int open_queues() noexcept {
  const auto context = static_cast<int>(::syscall(SYS_fsopen, "mqueue", FSOPEN_CLOEXEC));
  if (context < 0) return -1;
  long mounted = ::syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
  if (mounted == 0) {
    mounted = ::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  }
  const int error = errno;
  ::close(context);
  errno = error;
  return static_cast<int>(mounted);
}

}  // namespace bulkhead
