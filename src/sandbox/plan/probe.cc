#include "sandbox/plan/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>

#include "base/fd.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/kernel/landlock.h"
#include "sandbox/limits/limits.h"
#include "sandbox/plan/remedy.h"

namespace bulkhead {
namespace {

// What a child ended with. One that dies otherwise, or whose end nobody tells, counts as
// ENOTRECOVERABLE, so nothing is ever taken for present by accident. Children are cloned without
// SIGCHLD: where our caller ignores it, the kernel would throw their ends away (waitpid(2)).
int end_of(pid_t child) {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, __WALL);
  } while (ended < 0 && errno == EINTR);
  return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : ENOTRECOVERABLE;
}

// Runs `trial` in a child, cloned with `flags`; its result is 0 or an errno.
int in_child(unsigned long flags, const std::function<int()>& trial) {
  const long child = ::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, 0);
  if (child == 0) ::_exit(trial());
  return child < 0 ? errno : end_of(static_cast<pid_t>(child));
}

int result_of(long call) { return call < 0 ? errno : 0; }

std::string why(int error) { return error == 0 ? std::string() : ::strerror(error); }

// ---- seccomp ----

// Everything allowed but getppid, which is notified.
int install_notifying_filter(unsigned extra_flags) {
  sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_getppid},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{4, code};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                    SECCOMP_FILTER_FLAG_NEW_LISTENER | extra_flags, &program));
}

// A child of the caller makes the notified call; the caller serves it by injecting a descriptor
// that takes the call's result with it. In a child of its own, because a filter stays.
int try_injection() {
  int channel[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return errno;
  // Descriptors are shared, so that the listener's number is the parent's too.
  const long target = ::syscall(SYS_clone, CLONE_FILES, nullptr, nullptr, nullptr, 0);
  if (target < 0) return errno;
  if (target == 0) {
    const int listener = install_notifying_filter(0);
    const int number = listener < 0 ? -errno : listener;
    if (::write(channel[1], &number, sizeof number) != sizeof number || listener < 0) ::_exit(1);
    char go = 0;
    if (::read(channel[1], &go, 1) != 1) ::_exit(1);
    const long fd = ::syscall(SYS_getppid);
    ::_exit(fd >= 0 && ::fcntl(static_cast<int>(fd), F_GETFD) == FD_CLOEXEC ? 0 : 2);
  }
  int error = 0, number = -1;
  if (::read(channel[0], &number, sizeof number) != sizeof number) {
    error = EIO;
  } else if (number < 0) {
    error = -number;
  }
  if (error == 0) {
    const Fd listener(number);
    seccomp_notif call{};
    if (::write(channel[0], "", 1) != 1 ||
        ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
      error = errno;
    } else {
      seccomp_notif_addfd add{};
      add.id = call.id;
      add.flags = SECCOMP_ADDFD_FLAG_SEND;
      add.srcfd = static_cast<uint32_t>(channel[0]);
      add.newfd_flags = O_CLOEXEC;
      if (::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0) error = errno;
    }
  }
  if (error != 0) ::kill(static_cast<pid_t>(target), SIGKILL);
  const int end = end_of(static_cast<pid_t>(target));
  return error == 0 && end != 0 ? ENOTRECOVERABLE : error;
}

int try_sync_wake_up() {
  const int listener = install_notifying_filter(0);
  if (listener < 0) return errno;
  return result_of(::ioctl(listener, kSeccompNotifSetFlags, kSeccompNotifSyncWakeUp));
}

int try_killable() {
  return install_notifying_filter(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) < 0 ? errno : 0;
}

// ---- namespaces; each trial runs as the first process of fresh ones, without id maps ----

int try_tmpfs() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  return result_of(::mount("probe", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k"));
}

int try_proc() {
  return result_of(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
}

int try_devpts() {
  struct stat status;
  if (::stat("/dev/pts", &status) != 0) return 0;  // then none is needed
  return result_of(::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                           "newinstance,ptmxmode=0666,mode=0620"));
}

int try_tree_clone() {
  const Fd tree(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, "/dev",
                                           OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
  if (!tree) return errno;
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  if (::syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH, &attr, sizeof attr) != 0)
    return errno;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::syscall(SYS_move_mount, tree.get(), "", AT_FDCWD, "/dev", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return errno;
  const Fd context(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
  if (!context ||
      ::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return errno;
  const Fd made(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  return made ? 0 : errno;
}

int try_loopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket ? 0 : errno;
}

// ---- reaching into a process of the same user ----

int with_paused_child(const std::function<int(pid_t)>& trial) {
  const pid_t child = static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, 0));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (;;) ::pause();
  }
  if (child < 0) return errno;
  const int error = trial(child);
  ::kill(child, SIGKILL);
  (void)end_of(child);
  return error;
}

int try_openat2() {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  const Fd root(::open("/", O_PATH | O_CLOEXEC));
  const Fd fd(static_cast<int>(::syscall(SYS_openat2, root.get(), "dev", &how, sizeof how)));
  return fd ? 0 : errno;
}

// Denies everything and looks whether it is denied.
int try_landlock(const LandlockSupport& support) {
  if (support.abi < kOldestLandlock) return EOPNOTSUPP;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (const int error = landlock_restrict(support, {}, -1); error != 0) return error;
  const Fd root(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root) return ENOTRECOVERABLE;
  return errno == EACCES ? 0 : errno;
}

int try_signal_scope(const LandlockSupport& support) {
  if (!support.scopes) return EOPNOTSUPP;
  const pid_t outside = ::getppid();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (const int error = landlock_restrict(support, {}, -1); error != 0) return error;
  // Signal 0 goes through the same check and does nothing.
  if (::kill(outside, 0) == 0) return ENOTRECOVERABLE;
  return errno == EPERM ? 0 : errno;
}

// Linux 6.9.
int try_pidfd_of_thread(pid_t thread) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, thread, kPidfdThread)));
  return pidfd ? 0 : errno;
}

// Whether a cgroup limit can be had is LimitKeeper's knowledge: it is asked, not guessed.
bool by_cgroup(const Limits& limits, Mechanism LimitMechanisms::*which) {
  const auto keeper = LimitKeeper::prepare(limits);
  return keeper.ok() && (*keeper)->mechanisms().*which == Mechanism::kCgroup;
}

// ---- what mends a refusal ----

std::string mend_of_namespaces() { return remedy_for_namespaces(find_refuser()); }

}  // namespace

int try_take_descriptor(pid_t process) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!pidfd) return errno;
  // Nobody has such a number, so EBADF says that the call works.
  const Fd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), 1 << 20, 0)));
  return taken || errno == EBADF ? 0 : errno;
}

int try_take_of_thread(pid_t thread) {
  if (try_pidfd_of_thread(thread) == 0) return 0;
  // What is asked in its place: whether a thread has its process's descriptors (ThreadDescriptors).
  return result_of(::syscall(SYS_kcmp, thread, thread, KCMP_FILES, 0UL, 0UL));
}

int try_reach_memory(pid_t process) {
  int word = 0;
  // Nobody has anything there, so EFAULT says that the calls work.
  const iovec local{&word, sizeof word}, remote{nullptr, sizeof word};
  if (::process_vm_readv(process, &local, 1, &remote, 1, 0) < 0 && errno != EFAULT) return errno;
  if (::process_vm_writev(process, &local, 1, &remote, 1, 0) < 0 && errno != EFAULT) return errno;
  return 0;
}

int try_hand_in(int listener) {
  seccomp_notif_addfd add{};
  add.flags = SECCOMP_ADDFD_FLAG_SEND;
  add.srcfd = static_cast<uint32_t>(listener);
  // No call has the number 0. A kernel that does not know the flag says EINVAL before it looks.
  while (::ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0) {
    if (errno != EINTR) return errno == ENOENT ? 0 : errno;
  }
  return ENOTRECOVERABLE;
}

Error with_what_is_missing(Error error) {
  // What this user has used up: the probes would lack it too, and say that the kernel lacks
  // features.
  for (const int short_of : {EMFILE, ENFILE, EAGAIN, ENOMEM})
    if (error.errno_value == short_of) return error;
  std::string names, fix;
  for (const Feature& feature : probe_features()) {
    if (!feature.required || feature.present) continue;
    if (names.empty()) fix = feature.detail;
    names += (names.empty() ? "" : ", ") + feature.name;
  }
  if (!names.empty())
    error.message += fmt::format("\nmissing on this machine: {} ({})", names, fix);
  return error;
}

namespace {

struct Probed {
  std::vector<Feature> features;

  static constexpr bool kRequired = true;
  // `error`: 0 where it is there, with `measured`; else `fix` says how to get it.
  void add(std::string name, std::string what, bool required, int error,
           const std::string& measured, const std::string& fix) {
    features.push_back({std::move(name), std::move(what), required, error == 0,
                        error == 0 ? measured : fmt::format("{}: {}", why(error), fix)});
  }
};

void probe_landlock(Probed& probed, const LandlockSupport& landlock) {
  const int denial = in_child(0, [&] { return try_landlock(landlock); });
  std::string mend =
      "the kernel must have CONFIG_SECURITY_LANDLOCK, lsm= of its command line must name it, and "
      "this must not be a compartment already";
  if (denial == E2BIG) {
    mend = fmt::format("{}: start bulkhead outside of some", kLandlockLayersSpent);
  } else if (landlock.abi > 0 && landlock.abi < kOldestLandlock) {
    mend =
        fmt::format("ABI {} is needed (Linux 5.19), and this is {}", kOldestLandlock, landlock.abi);
  }
  probed.add("landlock", "denies files behind everything that the supervisor says",
             Probed::kRequired, denial, fmt::format("ABI {}", landlock.abi), mend);
  // What later ones deny besides is held in any case (landlock.h).
  const bool truncate = (landlock.rights & kLandlockTruncate) != 0;
  probed.add(
      "landlock-truncate", "denies cutting files short, once more", false,
      denial != 0 ? denial
      : truncate  ? 0
                  : EOPNOTSUPP,
      "",
      denial != 0 ? mend : "Linux 6.2 has it; without it the supervisor alone keeps files whole");
  probed.add("landlock-scopes", "keeps signals and abstract unix sockets inside, once more", false,
             denial != 0 ? denial : in_child(0, [&] { return try_signal_scope(landlock); }),
             "tried",
             denial != 0 ? mend
                         : "Linux 6.12 has it; without it namespaces and a process group of the "
                           "program's own keep them inside alone");
}

void probe_seccomp(Probed& probed) {
  probed.add("seccomp-notify", "lets the supervisor serve system calls and hand in descriptors",
             Probed::kRequired, in_child(0, try_injection), "tried",
             "SECCOMP_ADDFD_FLAG_SEND is needed (Linux 5.14)");
  probed.add("seccomp-killable", "signals cannot make a served call happen twice",
             Probed::kRequired, in_child(0, try_killable), "",
             "WAIT_KILLABLE_RECV is needed (Linux 5.19)");
  probed.add("seccomp-sync-wake-up", "serves calls on the caller's core: faster", false,
             in_child(0, try_sync_wake_up), "", "Linux 6.6 has it");
}

void probe_namespaces(Probed& probed) {
  // With another one: Ubuntu's AppArmor lets a user namespace be made and refuses all that it is
  // for.
  const int no_namespaces = in_child(CLONE_NEWUSER | CLONE_NEWNS, [] { return 0; });
  const std::string mend = mend_of_namespaces();
  const auto add = [&](std::string name, std::string what, unsigned long flags, int (*trial)(),
                       const std::string& fix) {
    probed.add(std::move(name), std::move(what), Probed::kRequired,
               in_child(CLONE_NEWUSER | flags, trial), "", no_namespaces != 0 ? mend : fix);
  };
  probed.add("user-namespaces", "gives an ordinary user a compartment", Probed::kRequired,
             no_namespaces, "", mend);
  add("mount-namespace", "private /tmp and /dev/shm, hidden paths", CLONE_NEWNS, try_tmpfs, mend);
  add("mount-attributes", "mounts trees, and makes them read-only", CLONE_NEWNS, try_tree_clone,
      "Linux 5.12 is needed, and a container that lets it through");
  add("private-proc", "a /proc that shows the compartment alone", CLONE_NEWNS | CLONE_NEWPID,
      try_proc,
      "this container masks parts of /proc, and the kernel then allows no other one: start it with "
      "--security-opt systempaths=unconfined");
  add("private-terminals", "a /dev/pts of its own", CLONE_NEWNS, try_devpts, mend);
  add("network-namespace", "a network that is empty but for loopback", CLONE_NEWNET, try_loopback,
      mend);
  add(
      "ipc-namespace", "System V memory and queues of its own", CLONE_NEWIPC, [] { return 0; },
      mend);
}

void probe_reach(Probed& probed) {
  const std::string trace = remedy_for_reach(find_refuser());
  probed.add("pidfd-getfd", "reaches a caller's sockets", Probed::kRequired,
             with_paused_child(try_take_descriptor), "", trace);
  const bool compares = with_paused_child(try_pidfd_of_thread) != 0;
  probed.add("thread-descriptors", "reaches those of every thread", Probed::kRequired,
             with_paused_child(try_take_of_thread),
             compares ? "by kcmp(2): not of a thread that has its own" : "",
             "Linux 6.9 is needed, or kcmp(2): CONFIG_KCMP, and a container that lets it through");
  probed.add("process-vm-readv", "reads a caller's arguments, writes its answers",
             Probed::kRequired, with_paused_child(try_reach_memory), "", trace);
  probed.add("openat2", "resolves paths without races", Probed::kRequired, try_openat2(), "",
             "Linux 5.6 is needed, and a container that lets it through");
}

void probe_cgroups(Probed& probed) {
  Limits memory;
  memory.memory = uint64_t{1} << 30;
  Limits cpu;
  cpu.cpu = 0.5;
  const std::string delegate =
      "no cgroup that this user may write: run as root, or delegate one (systemd-run --user "
      "--scope "
      "-p Delegate=yes)";
  probed.add("cgroup-memory", "limits memory exactly; else it is sampled", false,
             by_cgroup(memory, &LimitMechanisms::memory) ? 0 : EACCES, "", delegate);
  probed.add("cgroup-cpu", "limits parts of a core; else whole cores only", false,
             by_cgroup(cpu, &LimitMechanisms::cpu) ? 0 : EACCES, "", delegate);
}

}  // namespace

std::vector<Feature> probe_features(const LandlockSupport& landlock) {
  Probed probed;
  probe_landlock(probed, landlock);
  probe_seccomp(probed);
  probe_namespaces(probed);
  probe_reach(probed);
  probe_cgroups(probed);
  return std::move(probed.features);
}

}  // namespace bulkhead
