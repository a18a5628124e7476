#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/kernel/kernel.h"
#include "sandbox/launch/init/init.h"

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

bool limit_inotify(const MountOrders<Read>& orders) noexcept {
  if (*orders.inotify_watches == '\0') return true;
  return write_setting("/proc/sys/user/max_inotify_instances", orders.inotify_instances) &&
         write_setting("/proc/sys/user/max_inotify_watches", orders.inotify_watches);
}

// Safe: a tmpfs of our own user namespace, which nobody but this init has reached yet.
bool make_stage(const MountOrders<Read>& orders, Failure& failure) noexcept {
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
  if (*orders.resolv_conf != '\0' && cover(kStageResolv, orders.resolv_conf) != 0) {
    return failed(failure, "cover the resolver's configuration", orders.resolv_conf);
  }
  return true;
}

// Safe: binds only what the policy grants below the tree, at the very place it had, and folders of
// our own; only where no symlink leads there. Sources are taken before the tmpfs covers them.
bool mount_private(const PrivateTreeOrder<Read>& tree, Failure& failure) noexcept {
  constexpr size_t kMost = 64;
  int sources[kMost] = {};
  if (tree.binds.size() > kMost) {
    return failed_with(failure, E2BIG, "bind granted paths below", tree.path);
  }
  for (size_t i = 0; i < tree.binds.size(); ++i) {
    sources[i] = clone_tree(tree.binds[i].source);
    if (sources[i] < 0) return failed(failure, "bind", tree.binds[i].source);
  }
  if (::mount("tmpfs", tree.path, "tmpfs", MS_NOSUID | MS_NODEV, tree.options) != 0) {
    return failed(failure, "mount a tmpfs", tree.path);
  }
  for (const char* const folder : tree.folders) {
    if (::mkdir(folder, 0755) != 0 && errno != EEXIST) {
      return failed(failure, "make a folder", folder);
    }
  }
  for (size_t i = 0; i < tree.binds.size(); ++i) {
    const char* target = tree.binds[i].place;
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

bool take_home(const MountOrders<Read>& orders, HomeTrees& trees, Failure& failure) noexcept {
  if (orders.home_real.size() > HomeTrees::kMost) {
    return failed_with(failure, E2BIG, "bind granted paths below", orders.home);
  }
  trees.store = clone_tree(orders.home_store);
  if (trees.store < 0) return failed(failure, "bind", orders.home_store);
  for (size_t i = 0; i < orders.home_real.size(); ++i) {
    trees.real[i] = clone_tree(orders.home_real[i]);
    if (trees.real[i] < 0) return failed(failure, "bind", orders.home_real[i]);
  }
  return true;
}

// Safe: covers the home folder by a folder of our own, and binds there what was there, at the very
// place it had; only where no symlink leads there.
bool mount_home(const MountOrders<Read>& orders, const HomeTrees& trees,
                Failure& failure) noexcept {
  if (attach_tree(trees.store, orders.home) != 0) {
    return failed(failure, "mount the private home", orders.home);
  }
  ::close(trees.store);
  for (size_t i = 0; i < orders.home_real.size(); ++i) {
    const char* target = orders.home_real[i];
    if (attach_tree(trees.real[i], target) != 0) return failed(failure, "bind", target);
    ::close(trees.real[i]);
  }
  return true;
}

bool mount_terminals(const MountOrders<Read>& orders, Failure& failure) noexcept {
  if (*orders.devpts_options == '\0') return true;
  // Safe: a new instance has no terminals yet, and shows those of this compartment alone.
  if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, orders.devpts_options) != 0) {
    return failed(failure, "mount /dev/pts");
  }
  if (orders.cover_ptmx != 0 && cover("/dev/pts/ptmx", "/dev/ptmx") != 0) {
    return failed(failure, "cover /dev/ptmx");
  }
  return true;
}

bool mount_queues(const MountOrders<Read>& orders, Failure& failure) noexcept {
  if (orders.cover_queues == 0) return true;
  const int queues = open_queues();
  // Safe: the queues of our own IPC namespace, which are none yet.
  const bool done = queues < 0 ? errno == ENODEV
                               : attach_tree(queues, "/dev/mqueue") == 0;  // ENODEV: not built in
  if (!done) return failed(failure, "mount /dev/mqueue");
  if (queues >= 0) ::close(queues);
  return true;
}

bool mount_proc(const MountOrders<Read>& orders, Failure& failure) noexcept {
  // Safe: shows the processes of our own pid namespace. The kernel allows it where the surrounding
  // /proc is shown whole, so it reveals nothing new.
  if (::mount("proc", "/proc", "proc", kPlain, nullptr) != 0) return failed(failure, "mount /proc");
  // Behind the filter: no user namespace can be made below ours. Safe: the number counts for this
  // user namespace alone (namespaces(7)).
  if (!write_setting("/proc/sys/user/max_user_namespaces", "0") && errno != ENOENT) {
    return failed(failure, "forbid further user namespaces");
  }
  if (!limit_inotify(orders)) return failed(failure, "limit", "watches");
  // Root may bind low ports; without CAP_NET_BIND_SERVICE that takes this. Of this network
  // namespace alone. Not vital, so a failure is none.
  if (orders.as_root != 0) write_setting("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
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

}  // namespace

bool leave_outer_mounts(Failure& failure) noexcept {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ||
         failed(failure, "make mounts private");
}

bool mount_trees(const MountOrders<Read>& orders, int& spare, Failure& failure) noexcept {
  HomeTrees home;
  spare = *orders.home_spare != '\0' ? open_without_links(orders.home_spare) : -1;
  if (*orders.home != '\0' && !take_home(orders, home, failure)) return false;
  if (!make_stage(orders, failure)) return false;
  for (const PrivateTreeOrder<Read>& tree : orders.private_trees) {
    if (!mount_private(tree, failure)) return false;
  }
  if (*orders.home != '\0' && !mount_home(orders, home, failure)) return false;
  if (!mount_terminals(orders, failure) || !mount_queues(orders, failure)) return false;
  for (const char* const path : orders.hidden) {
    struct stat status;
    if (::lstat(path, &status) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) continue;  // a private tree covers it
      return failed(failure, "hide", path);
    }
    if (cover(S_ISDIR(status.st_mode) ? kStageFolder : kStageFile, path) != 0) {
      return failed(failure, "hide", path);
    }
  }
  return ::umount2(kStage, MNT_DETACH) == 0 || failed(failure, "unmount a tmpfs", kStage);
}

bool mount_system(const MountOrders<Read>& orders, Failure& failure) noexcept {
  if (!mount_proc(orders, failure)) return false;
  // Root could switch devices through it, and whoever may write a cgroup could leave its own. No
  // manifest and no option lifts this. EINVAL: nothing is mounted there.
  if (set_read_only(AT_FDCWD, "/sys", AT_RECURSIVE) != 0 && errno != EINVAL && errno != ENOENT) {
    return failed(failure, "make read-only", "/sys");
  }
  for (const char* const path : orders.cgroups) {
    // ENOENT: a private tree covers it.
    if (set_read_only(AT_FDCWD, path, AT_RECURSIVE) != 0 && errno != ENOENT) {
      return failed(failure, "make read-only", path);
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
