// The table of notified calls. sandbox/plan/filter.cc notifies exactly these (a test compares the
// two); calls of serve_refusal, and calls that are refused only for some register values, carry the
// errno that programs fall back on and the reason that the journal tells.
#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "sandbox/calls/call.h"
#include "sandbox/kernel/kernel.h"

namespace bulkhead {

namespace {

constexpr const char* kMemory = "another process's memory and descriptors are out of reach";
// Where LeakSanitizer says nothing of the like, and ends with 1.
constexpr const char* kTracing =
    "no debugger or tracer works inside; AddressSanitizer does with ASAN_OPTIONS=detect_leaks=0";
constexpr const char* kMounts = "mounts cannot be changed from inside";
constexpr const char* kNamespaces = "no further namespaces";
constexpr const char* kUring = "io_uring would open and connect past the filter";
constexpr const char* kInit = "the compartment's first process is bulkhead's own";
constexpr const char* kMachine = "the machine's own settings";
constexpr const char* kRequests = "asynchronous requests are counted for the whole machine";
constexpr const char* kKeys = "kernel key rings are shared with the user's other programs";
constexpr const char* kHandles = "file handles name files past every path rule";
constexpr const char* kKernel = "kernel interface for privileged or measuring programs";
constexpr const char* kSockets =
    "only unix stream, TCP, UDP and route netlink sockets exist inside";
constexpr const char* kRoutes =
    "routes and interfaces that lead a connection elsewhere than it was granted";
constexpr const char* kAttributes = "file attributes such as immutable outlive the compartment";
constexpr const char* kFastOpen = "MSG_FASTOPEN connects without a connect that could be decided";
constexpr const char* kTerminal = "input typed into the terminal, or attributes of a file";

constexpr auto kRows = [] {
  auto rows = std::to_array<CallRow>({
      // calls/open.cc
      {__NR_open, "open", serve_open},
      {__NR_creat, "creat", serve_open},
      {__NR_openat, "openat", serve_open},
      {__NR_openat2, "openat2", serve_open},
      // calls/tree.cc
      {__NR_mkdir, "mkdir", serve_make},
      {__NR_mkdirat, "mkdirat", serve_make},
      {__NR_mknod, "mknod", serve_make},
      {__NR_mknodat, "mknodat", serve_make},
      {__NR_unlink, "unlink", serve_remove},
      {__NR_unlinkat, "unlinkat", serve_remove},
      {__NR_rmdir, "rmdir", serve_remove},
      {__NR_rename, "rename", serve_rename},
      {__NR_renameat, "renameat", serve_rename},
      {__NR_renameat2, "renameat2", serve_rename},
      {__NR_link, "link", serve_link},
      {__NR_linkat, "linkat", serve_link},
      {__NR_symlink, "symlink", serve_symlink},
      {__NR_symlinkat, "symlinkat", serve_symlink},
      // calls/read.cc
      {__NR_readlink, "readlink", serve_readlink},
      {__NR_readlinkat, "readlinkat", serve_readlink},
      {__NR_access, "access", serve_access},
      {__NR_faccessat, "faccessat", serve_access},
      {__NR_faccessat2, "faccessat2", serve_access},
      {__NR_inotify_add_watch, "inotify_add_watch", serve_watch},
      // calls/status.cc
      {__NR_chmod, "chmod", serve_chmod},
      {__NR_fchmod, "fchmod", serve_chmod},
      {__NR_fchmodat, "fchmodat", serve_chmod},
      {__NR_fchmodat2, "fchmodat2", serve_chmod},
      {__NR_chown, "chown", serve_chown},
      {__NR_lchown, "lchown", serve_chown},
      {__NR_fchown, "fchown", serve_chown},
      {__NR_fchownat, "fchownat", serve_chown},
      {__NR_truncate, "truncate", serve_truncate},
      {__NR_utime, "utime", serve_times},
      {__NR_utimes, "utimes", serve_times},
      {__NR_futimesat, "futimesat", serve_times},
      {__NR_utimensat, "utimensat", serve_times},
      {__NR_setxattr, "setxattr", serve_xattr},
      {__NR_lsetxattr, "lsetxattr", serve_xattr},
      {__NR_fsetxattr, "fsetxattr", serve_xattr},
      {__NR_setxattrat, "setxattrat", serve_xattr},
      {__NR_getxattr, "getxattr", serve_get_xattr},
      {__NR_lgetxattr, "lgetxattr", serve_get_xattr},
      {__NR_fgetxattr, "fgetxattr", serve_get_xattr},
      {__NR_getxattrat, "getxattrat", serve_get_xattr},
      {__NR_removexattr, "removexattr", serve_xattr},
      {__NR_lremovexattr, "lremovexattr", serve_xattr},
      {__NR_fremovexattr, "fremovexattr", serve_xattr},
      {__NR_removexattrat, "removexattrat", serve_xattr},
      // calls/execute.cc
      {__NR_execve, "execve", serve_execute},
      {__NR_execveat, "execveat", serve_execute},
      // calls/process.cc. clone and vfork reach it only where processes are counted; clone with a
      // NEW* flag is refused there.
      {__NR_fork, "fork", serve_fork},
      {__NR_vfork, "vfork", serve_fork},
      {__NR_clone, "clone", serve_fork, EPERM, kNamespaces},
      {__NR_setuid, "setuid", serve_credentials},
      {__NR_setgid, "setgid", serve_credentials},
      {__NR_setreuid, "setreuid", serve_credentials},
      {__NR_setregid, "setregid", serve_credentials},
      {__NR_setresuid, "setresuid", serve_credentials},
      {__NR_setresgid, "setresgid", serve_credentials},
      {__NR_setfsuid, "setfsuid", serve_credentials},
      {__NR_setfsgid, "setfsgid", serve_credentials},
      {__NR_setgroups, "setgroups", serve_credentials},
      {__NR_capset, "capset", serve_credentials},
      {__NR_prctl, "prctl", serve_filter},
      {__NR_seccomp, "seccomp", serve_filter},
      // calls/socket.cc
      {__NR_connect, "connect", serve_connect},
      {__NR_bind, "bind", serve_bind},
      {__NR_listen, "listen", serve_listen},
      {__NR_getsockname, "getsockname", serve_own_name},
      {__NR_sendto, "sendto", serve_send, EOPNOTSUPP, kFastOpen},
      // calls/refuse.cc
      {__NR_sendmsg, "sendmsg", serve_refusal, EOPNOTSUPP, kFastOpen},
      {__NR_sendmmsg, "sendmmsg", serve_refusal, EOPNOTSUPP, kFastOpen},
      {__NR_socket, "socket", serve_refusal, EAFNOSUPPORT, kSockets},
      {__NR_socketpair, "socketpair", serve_refusal, EACCES, kSockets},
      {__NR_setsockopt, "setsockopt", serve_refusal, EPERM, kRoutes},
      {__NR_io_setup, "io_setup", serve_refusal, ENOSYS, kRequests},
      {__NR_io_uring_setup, "io_uring_setup", serve_refusal, ENOSYS, kUring},
      {__NR_io_uring_enter, "io_uring_enter", serve_refusal, ENOSYS, kUring},
      {__NR_io_uring_register, "io_uring_register", serve_refusal, ENOSYS, kUring},
      {__NR_ptrace, "ptrace", serve_refusal, EPERM, kTracing},
      {__NR_process_vm_readv, "process_vm_readv", serve_refusal, EPERM, kMemory},
      {__NR_process_vm_writev, "process_vm_writev", serve_refusal, EPERM, kMemory},
      {__NR_prlimit64, "prlimit64", serve_refusal, EPERM, kInit},
      {__NR_pidfd_getfd, "pidfd_getfd", serve_refusal, EPERM, kMemory},
      {__NR_mount, "mount", serve_refusal, EPERM, kMounts},
      {__NR_umount2, "umount2", serve_refusal, EPERM, kMounts},
      {__NR_pivot_root, "pivot_root", serve_refusal, EPERM, kMounts},
      {__NR_chroot, "chroot", serve_refusal, EPERM, kMounts},
      {__NR_move_mount, "move_mount", serve_refusal, EPERM, kMounts},
      {__NR_open_tree, "open_tree", serve_refusal, EPERM, kMounts},
      {__NR_open_tree_attr, "open_tree_attr", serve_refusal, EPERM, kMounts},
      {__NR_fsopen, "fsopen", serve_refusal, EPERM, kMounts},
      {__NR_fsconfig, "fsconfig", serve_refusal, EPERM, kMounts},
      {__NR_fsmount, "fsmount", serve_refusal, EPERM, kMounts},
      {__NR_fspick, "fspick", serve_refusal, EPERM, kMounts},
      {__NR_mount_setattr, "mount_setattr", serve_refusal, EPERM, kMounts},
      {__NR_swapon, "swapon", serve_refusal, EPERM, kMachine},
      {__NR_swapoff, "swapoff", serve_refusal, EPERM, kMachine},
      {__NR_unshare, "unshare", serve_refusal, EPERM, kNamespaces},
      {__NR_setns, "setns", serve_refusal, EPERM, kNamespaces},
      {__NR_bpf, "bpf", serve_refusal, EPERM, kKernel},
      {__NR_perf_event_open, "perf_event_open", serve_refusal, EPERM, kKernel},
      {__NR_userfaultfd, "userfaultfd", serve_refusal, EPERM, kKernel},
      {__NR_fanotify_init, "fanotify_init", serve_refusal, EPERM, kKernel},
      {__NR_fanotify_mark, "fanotify_mark", serve_refusal, EPERM, kKernel},
      {__NR_add_key, "add_key", serve_refusal, ENOSYS, kKeys},
      {__NR_request_key, "request_key", serve_refusal, ENOSYS, kKeys},
      {__NR_keyctl, "keyctl", serve_refusal, ENOSYS, kKeys},
      {__NR_name_to_handle_at, "name_to_handle_at", serve_refusal, EOPNOTSUPP, kHandles},
      {__NR_open_by_handle_at, "open_by_handle_at", serve_refusal, EPERM, kHandles},
      {__NR_init_module, "init_module", serve_refusal, EPERM, kMachine},
      {__NR_finit_module, "finit_module", serve_refusal, EPERM, kMachine},
      {__NR_delete_module, "delete_module", serve_refusal, EPERM, kMachine},
      {__NR_kexec_load, "kexec_load", serve_refusal, EPERM, kMachine},
      {__NR_kexec_file_load, "kexec_file_load", serve_refusal, EPERM, kMachine},
      {__NR_reboot, "reboot", serve_refusal, EPERM, kMachine},
      {__NR_syslog, "syslog", serve_refusal, EPERM, kMachine},
      {__NR_acct, "acct", serve_refusal, EPERM, kMachine},
      {__NR_quotactl, "quotactl", serve_refusal, EPERM, kMachine},
      {__NR_quotactl_fd, "quotactl_fd", serve_refusal, EPERM, kMachine},
      {__NR_settimeofday, "settimeofday", serve_refusal, EPERM, kMachine},
      {__NR_clock_settime, "clock_settime", serve_refusal, EPERM, kMachine},
      {__NR_sethostname, "sethostname", serve_refusal, EPERM, kMachine},
      {__NR_setdomainname, "setdomainname", serve_refusal, EPERM, kMachine},
      {__NR_iopl, "iopl", serve_refusal, EPERM, kMachine},
      {__NR_ioperm, "ioperm", serve_refusal, EPERM, kMachine},
      {__NR_file_setattr, "file_setattr", serve_refusal, EOPNOTSUPP, kAttributes},
      {__NR_vhangup, "vhangup", serve_refusal, EPERM, kMachine},
      {__NR_fcntl, "fcntl", serve_async},
      {__NR_ioctl, "ioctl", serve_ioctl, EPERM, kTerminal},
  });
  std::sort(rows.begin(), rows.end(),
            [](const CallRow& a, const CallRow& b) { return a.number < b.number; });
  return rows;
}();

constexpr int kHighest = 512;
static_assert(kRows.back().number < kHighest);
static_assert(std::adjacent_find(kRows.begin(), kRows.end(), [](const auto& a, const auto& b) {
                return a.number == b.number;
              }) == kRows.end());

// Row index + 1 by call number; 0 where there is none.
constexpr auto kIndex = [] {
  std::array<uint16_t, kHighest> index{};
  for (size_t i = 0; i < kRows.size(); ++i)
    index[static_cast<size_t>(kRows[i].number)] = static_cast<uint16_t>(i + 1);
  return index;
}();

}  // namespace

const CallRow* find_call(int number) {
  if (number < 0 || number >= kHighest) return nullptr;
  const uint16_t index = kIndex[static_cast<size_t>(number)];
  return index == 0 ? nullptr : &kRows[index - 1];
}

}  // namespace bulkhead
