#include "sandbox/plan/filter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "sandbox/kernel/kernel.h"

namespace bulkhead {
namespace {

// What the kernel's classic BPF machine does with the instructions that seccomp permits.
uint32_t simulate(const std::vector<sock_filter>& program, const seccomp_data& data) {
  uint32_t accumulator = 0;
  for (size_t pc = 0; pc < program.size(); ++pc) {
    const sock_filter& i = program[pc];
    switch (i.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (i.k % 4 != 0 || i.k + 4 > sizeof data) {
          ADD_FAILURE() << "load at offset " << i.k;
          return 0;
        }
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + i.k, 4);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= i.k;
        break;
      case BPF_JMP | BPF_JA:
        pc += i.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        pc += accumulator == i.k ? i.jt : i.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        pc += accumulator >= i.k ? i.jt : i.jf;
        break;
      case BPF_RET | BPF_K:
        return i.k;
      default:
        ADD_FAILURE() << "instruction " << i.code;
        return 0;
    }
  }
  ADD_FAILURE() << "ran off the end";
  return 0;
}

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kNotify = SECCOMP_RET_USER_NOTIF;
constexpr uint32_t fails(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

class Filter : public testing::Test {
 protected:
  uint32_t run(int number, std::initializer_list<uint64_t> args = {},
               const FilterOptions& options = {}, uint32_t arch = AUDIT_ARCH_X86_64) {
    seccomp_data data{};
    data.nr = number;
    data.arch = arch;
    size_t i = 0;
    for (uint64_t arg : args) data.args[i++] = arg;
    return simulate(make_filter(options), data);
  }
};

constexpr uint64_t kHigh = uint64_t{1} << 32;  // a bit that the kernel ignores in an int

TEST_F(Filter, FitsTheKernelsLimit) {
  EXPECT_LE(make_filter({true, true, true}).size(), size_t{BPF_MAXINSNS});
  EXPECT_GT(make_filter({}).size(), 100u);
}

TEST_F(Filter, TableNamesEveryCallOfTheHeaders) {
  std::ifstream header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  ASSERT_TRUE(header) << "needs linux-libc-dev";
  std::map<int, std::string> expected;
  for (std::string line; std::getline(header, line);) {
    std::istringstream words(line);
    std::string define, name;
    int number = 0;
    if (words >> define >> name >> number && define == "#define" && name.rfind("__NR_", 0) == 0) {
      expected[number] = name.substr(5);
    }
  }
  ASSERT_GT(expected.size(), 350u);
  std::map<int, std::string> ours;
  for (const CallRule& rule : call_rules()) ours[rule.number] = rule.name;
  for (const auto& [number, name] : expected) {
    EXPECT_EQ(ours[number], name) << number;
  }
  for (int number = 0; number <= 334; ++number) EXPECT_TRUE(ours.contains(number)) << number;
  for (int number = 424; number <= __NR_file_setattr; ++number) {
    EXPECT_TRUE(ours.contains(number)) << number;
  }
}

TEST_F(Filter, EveryRowIsReachedAndEveryGapIsUnknown) {
  std::map<int, const CallRule*> rules;
  for (const CallRule& rule : call_rules()) rules[rule.number] = &rule;
  const auto program = make_filter({});
  for (int number = 0; number < 2000; ++number) {
    seccomp_data data{};
    data.nr = number;
    data.arch = AUDIT_ARCH_X86_64;
    const uint32_t got = simulate(program, data);
    const auto found = rules.find(number);
    if (found == rules.end()) {
      EXPECT_EQ(got, fails(ENOSYS)) << number;
      continue;
    }
    if (!found->second->cases.empty()) continue;  // tested one by one below
    switch (found->second->otherwise.type) {
      case CallAction::Type::kNotify:
        EXPECT_EQ(got, kNotify) << found->second->name;
        break;
      case CallAction::Type::kErrno:
        EXPECT_EQ(got, fails(found->second->otherwise.errno_value)) << found->second->name;
        break;
      default:
        EXPECT_EQ(got, kAllow) << found->second->name;
    }
  }
  for (int number : {0x3fffffff, 512, 547, 1 << 20})
    EXPECT_EQ(run(number), fails(ENOSYS)) << number;
}

TEST_F(Filter, OtherArchitecturesDie) {
  for (int number : {0, 1, 5, 11, 257, 322}) {
    EXPECT_EQ(run(number, {}, {}, AUDIT_ARCH_I386), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(run(number, {}, {}, AUDIT_ARCH_AARCH64), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(run(number, {}, {}, 0), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(run(number | 0x40000000), SECCOMP_RET_KILL_PROCESS) << "x32";
  }
  EXPECT_EQ(run(-1), SECCOMP_RET_KILL_PROCESS);
}

// Every call that takes a path and that Landlock does not decide must be served; this list is made
// from the manual, not from the table.
TEST_F(Filter, WhatNamesAPathIsServed) {
  for (int number : {__NR_open,
                     __NR_creat,
                     __NR_openat,
                     __NR_openat2,
                     __NR_mkdir,
                     __NR_mkdirat,
                     __NR_rmdir,
                     __NR_unlink,
                     __NR_unlinkat,
                     __NR_rename,
                     __NR_renameat,
                     __NR_renameat2,
                     __NR_link,
                     __NR_linkat,
                     __NR_symlink,
                     __NR_symlinkat,
                     __NR_mknod,
                     __NR_mknodat,
                     __NR_chmod,
                     __NR_fchmod,
                     __NR_fchmodat,
                     __NR_fchmodat2,
                     __NR_chown,
                     __NR_lchown,
                     __NR_fchown,
                     __NR_fchownat,
                     __NR_truncate,
                     __NR_utime,
                     __NR_utimes,
                     __NR_utimensat,
                     __NR_futimesat,
                     __NR_setxattr,
                     __NR_lsetxattr,
                     __NR_fsetxattr,
                     __NR_setxattrat,
                     __NR_removexattr,
                     __NR_lremovexattr,
                     __NR_fremovexattr,
                     __NR_removexattrat,
                     __NR_getxattrat,
                     __NR_readlink,
                     __NR_readlinkat,
                     __NR_inotify_add_watch,
                     __NR_execve,
                     __NR_execveat,
                     __NR_connect,
                     __NR_bind,
                     __NR_listen}) {
    EXPECT_EQ(run(number), kNotify) << number;
  }
}

TEST_F(Filter, TheLimitOfCoreDumpsStays) {
  const uint64_t core = RLIMIT_CORE | uint64_t{1} << 32U;  // the kernel ignores the upper half
  EXPECT_EQ(run(__NR_setrlimit, {core, 1}), fails(0));
  EXPECT_EQ(run(__NR_prlimit64, {0, core, 1, 0}), fails(0));
  EXPECT_EQ(run(__NR_prlimit64, {0, core, uint64_t{1} << 32U, 1}), fails(EPERM));
  EXPECT_EQ(run(__NR_prlimit64, {0, core, 0, 1}), kAllow) << "asks for it";
  EXPECT_EQ(run(__NR_setrlimit, {RLIMIT_NOFILE, 1}), kAllow);
  EXPECT_EQ(run(__NR_prlimit64, {0, RLIMIT_NOFILE, 1, 1}), kAllow);
}

TEST_F(Filter, InitKeepsItsLimitsAndItsTime) {
  const uint64_t init = 1 | kHigh;
  EXPECT_EQ(run(__NR_prlimit64, {init, RLIMIT_CPU | kHigh, 0x1000, 0}), kNotify);
  EXPECT_EQ(run(__NR_prlimit64, {init, RLIMIT_CORE, kHigh, 0x1000}), kNotify);
  EXPECT_EQ(run(__NR_prlimit64, {init, RLIMIT_CPU, 0, 0x1000}), kAllow) << "asks for it";
  EXPECT_EQ(run(__NR_prlimit64, {2, RLIMIT_CPU, 0x1000, 0}), kAllow);
  for (const int call :
       {__NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr}) {
    EXPECT_EQ(run(call, {init}), fails(EPERM)) << call;
    EXPECT_EQ(run(call, {0}), kAllow) << call;
    EXPECT_EQ(run(call, {2}), kAllow) << call;
  }
  EXPECT_EQ(run(__NR_setpriority, {PRIO_PROCESS | kHigh, init, 5}), fails(EPERM));
  EXPECT_EQ(run(__NR_setpriority, {PRIO_PROCESS, 2, 5}), kAllow);
  EXPECT_EQ(run(__NR_setpriority, {PRIO_USER | kHigh, 0, 5}), fails(EPERM)) << "init's user";
}

TEST_F(Filter, WaitersInSharedMemoryAreNotMoved) {
  constexpr uint64_t kPrivate = 128, kRealTime = 256;
  for (const uint64_t move : {3u, 4u, 11u, 12u}) {
    EXPECT_EQ(run(__NR_futex, {0x1000, move}), fails(ENOSYS)) << move;
    EXPECT_EQ(run(__NR_futex, {0x1000, move | kRealTime | kHigh}), fails(ENOSYS)) << move;
    EXPECT_EQ(run(__NR_futex, {0x1000, move | kPrivate}), kAllow) << move;
  }
  for (const uint64_t other : {0u, 1u, 5u, 6u, 7u, 8u, 9u, 10u, 13u})
    EXPECT_EQ(run(__NR_futex, {0x1000, other}), kAllow) << other;
  EXPECT_EQ(run(__NR_futex_requeue), fails(ENOSYS)) << "which words are shared is in memory";
}

TEST_F(Filter, TheLengthOfAnAttributeIsStatus) {
  for (const int number : {__NR_getxattr, __NR_lgetxattr, __NR_fgetxattr}) {
    EXPECT_EQ(run(number, {1, 1, 1, 0}), kAllow);
    EXPECT_EQ(run(number, {1, 1, 1, 1}), kNotify);
    EXPECT_EQ(run(number, {1, 1, 1, uint64_t{1} << 32U}), kNotify) << "the kernel reads it whole";
  }
}

// Refused by the supervisor, which journals them; never passed by the kernel.
TEST_F(Filter, WhatNoManifestGrantsIsNotAllowed) {
  for (int number : {__NR_ptrace,
                     __NR_process_vm_readv,
                     __NR_process_vm_writev,
                     __NR_pidfd_getfd,
                     __NR_kcmp,
                     __NR_mount,
                     __NR_umount2,
                     __NR_pivot_root,
                     __NR_chroot,
                     __NR_open_tree,
                     __NR_move_mount,
                     __NR_fsopen,
                     __NR_fsconfig,
                     __NR_fsmount,
                     __NR_fspick,
                     __NR_mount_setattr,
                     __NR_open_tree_attr,
                     __NR_setns,
                     __NR_bpf,
                     __NR_perf_event_open,
                     __NR_userfaultfd,
                     __NR_io_setup,
                     __NR_io_uring_setup,
                     __NR_io_uring_enter,
                     __NR_io_uring_register,
                     __NR_keyctl,
                     __NR_add_key,
                     __NR_request_key,
                     __NR_name_to_handle_at,
                     __NR_open_by_handle_at,
                     __NR_fanotify_init,
                     __NR_fanotify_mark,
                     __NR_swapon,
                     __NR_swapoff,
                     __NR_acct,
                     __NR_quotactl,
                     __NR_quotactl_fd,
                     __NR_init_module,
                     __NR_finit_module,
                     __NR_delete_module,
                     __NR_kexec_load,
                     __NR_kexec_file_load,
                     __NR_reboot,
                     __NR_syslog,
                     __NR_settimeofday,
                     __NR_clock_settime,
                     __NR_sethostname,
                     __NR_setdomainname,
                     __NR_iopl,
                     __NR_ioperm,
                     __NR_uselib,
                     __NR_modify_ldt,
                     __NR_vhangup,
                     __NR_memfd_secret,
                     __NR_process_madvise,
                     __NR_move_pages,
                     __NR_migrate_pages,
                     __NR_statmount,
                     __NR_listmount,
                     __NR_clone3,
                     __NR_file_setattr,
                     __NR_lookup_dcookie,
                     __NR_lsm_set_self_attr}) {
    EXPECT_NE(run(number), kAllow) << number;
    EXPECT_NE(run(number, {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, 1, 1}), kAllow)
        << number;
  }
  EXPECT_EQ(run(__NR_clone3), fails(ENOSYS)) << "libc falls back to clone on ENOSYS alone";
}

TEST_F(Filter, Sockets) {
  const uint64_t flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  EXPECT_EQ(run(__NR_socket, {AF_UNIX, SOCK_STREAM | flags, 0}), kAllow);
  EXPECT_EQ(run(__NR_socket, {AF_UNIX, SOCK_SEQPACKET, 0}), kAllow);
  EXPECT_EQ(run(__NR_socket, {AF_UNIX, SOCK_DGRAM | flags, 0}), fails(EACCES));
  EXPECT_EQ(run(__NR_socket, {AF_UNIX, SOCK_RAW, 0}), fails(EACCES)) << "a datagram socket";
  for (uint64_t family : {AF_INET, AF_INET6}) {
    EXPECT_EQ(run(__NR_socket, {family, SOCK_STREAM | flags, 0}), kAllow);
    EXPECT_EQ(run(__NR_socket, {family, SOCK_STREAM, IPPROTO_TCP}), kAllow);
    EXPECT_EQ(run(__NR_socket, {family, SOCK_DGRAM, IPPROTO_UDP}), kAllow);
    EXPECT_EQ(run(__NR_socket, {family, SOCK_STREAM, 262 /* MPTCP */}), fails(EPROTONOSUPPORT));
    EXPECT_EQ(run(__NR_socket, {family, SOCK_STREAM, IPPROTO_SCTP}), fails(EPROTONOSUPPORT));
    EXPECT_EQ(run(__NR_socket, {family, SOCK_DGRAM, IPPROTO_UDPLITE}), fails(EPROTONOSUPPORT));
    EXPECT_EQ(run(__NR_socket, {family, SOCK_DGRAM, IPPROTO_ICMP}), fails(EPROTONOSUPPORT));
    EXPECT_NE(run(__NR_socket, {family, SOCK_RAW, IPPROTO_RAW}), kAllow);
    EXPECT_NE(run(__NR_socket, {family | kHigh, SOCK_RAW | kHigh, IPPROTO_RAW}), kAllow);
  }
  EXPECT_EQ(run(__NR_socket, {AF_NETLINK, SOCK_RAW | flags, 0}), kAllow);
  EXPECT_EQ(run(__NR_socket, {AF_NETLINK, SOCK_RAW, 9 /* AUDIT */}), fails(EPROTONOSUPPORT));
  EXPECT_EQ(run(__NR_socket, {AF_NETLINK, SOCK_DGRAM, 15 /* UEVENT */}), fails(EPROTONOSUPPORT));
  for (uint64_t family = 0; family < 64; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK)
      continue;
    for (uint64_t type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
      EXPECT_NE(run(__NR_socket, {family, type, 0}), kAllow) << family;
      EXPECT_NE(run(__NR_socket, {family | kHigh, type, 0}), kAllow) << family;
    }
  }
  EXPECT_EQ(run(__NR_socketpair, {AF_UNIX, SOCK_STREAM | flags, 0}), kAllow);
  EXPECT_EQ(run(__NR_socketpair, {AF_UNIX, SOCK_DGRAM, 0}), kNotify);
  EXPECT_EQ(run(__NR_socketpair, {AF_UNIX | kHigh, SOCK_DGRAM | kHigh, 0}), kNotify);
}

TEST_F(Filter, Sending) {
  const uint64_t fast = MSG_FASTOPEN;
  EXPECT_EQ(run(__NR_sendto, {3, 1, 1, MSG_NOSIGNAL, 0, 0}), kAllow);
  EXPECT_EQ(run(__NR_sendto, {3, 1, 1, 0, 0x1000, 16}), kNotify);
  EXPECT_EQ(run(__NR_sendto, {3, 1, 1, 0, kHigh, 16}), kNotify) << "an address above 4 GiB";
  EXPECT_NE(run(__NR_sendto, {3, 1, 1, fast | kHigh | MSG_NOSIGNAL, 0, 0}), kAllow);
  EXPECT_EQ(run(__NR_sendmsg, {3, 1, MSG_NOSIGNAL}), kAllow);
  EXPECT_NE(run(__NR_sendmsg, {3, 1, fast}), kAllow);
  EXPECT_NE(run(__NR_sendmsg, {3, 1, fast | kHigh | MSG_DONTWAIT}), kAllow);
  EXPECT_EQ(run(__NR_sendmmsg, {3, 1, 2, 0}), kAllow);
  EXPECT_NE(run(__NR_sendmmsg, {3, 1, 2, fast}), kAllow);
}

TEST_F(Filter, SocketOptions) {
  EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, SO_REUSEADDR}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_TCP, 1 /* TCP_NODELAY */}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, 31}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, 76 /* SO_PASSPIDFD */}), fails(ENOPROTOOPT));
  EXPECT_EQ(run(__NR_getsockopt, {3, SOL_SOCKET, 77 /* SO_PEERPIDFD */}), fails(ENOPROTOOPT));
  EXPECT_EQ(run(__NR_getsockopt, {3, SOL_SOCKET, SO_PEERCRED}), kAllow);
  EXPECT_EQ(run(__NR_getsockopt, {3, IPPROTO_TCP, 77}), kAllow);
  EXPECT_NE(run(__NR_setsockopt, {3, SOL_SOCKET, SO_BINDTODEVICE}), kAllow);
  for (const int attach :
       {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF})
    EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, static_cast<uint64_t>(attach) | kHigh}),
              fails(ENOPROTOOPT));
  EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, SO_DETACH_FILTER}), kAllow);
  for (const int name : {31, 14 /* TCP_MD5SIG */, 32, 38 /* TCP_AO_ADD_KEY */})
    EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_TCP, static_cast<uint64_t>(name)}),
              fails(ENOPROTOOPT));
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_TCP | kHigh, 30 | kHigh}), fails(ENOPROTOOPT));
  EXPECT_NE(run(__NR_setsockopt, {3, IPPROTO_IP, 4}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IP, 1 /* IP_TOS */}), kAllow);
  EXPECT_NE(run(__NR_setsockopt, {3, IPPROTO_IPV6, IPV6_RTHDR}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IPV6, IPV6_V6ONLY}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IPV6 | kHigh, 32 | kHigh /* IPV6_FLOWLABEL_MGR */}),
            fails(ENOPROTOOPT));
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IP, 32 /* IP_MULTICAST_IF */}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IP, IP_ADD_MEMBERSHIP}), fails(ENODEV));
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IP, MCAST_JOIN_GROUP}), fails(ENODEV));
  EXPECT_EQ(run(__NR_setsockopt, {3, IPPROTO_IPV6, IPV6_JOIN_GROUP}), fails(ENODEV));
}

TEST_F(Filter, CloneAndUnshare) {
  const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  EXPECT_EQ(run(__NR_clone, {SIGCHLD}), kAllow);
  EXPECT_EQ(run(__NR_clone, {thread}), kAllow);
  EXPECT_EQ(run(__NR_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}), kAllow);
  for (uint64_t flag : {uint64_t{CLONE_NEWNS}, uint64_t{CLONE_NEWCGROUP}, uint64_t{CLONE_NEWUTS},
                        uint64_t{CLONE_NEWIPC}, uint64_t{CLONE_NEWUSER}, uint64_t{CLONE_NEWPID},
                        uint64_t{CLONE_NEWNET}}) {
    EXPECT_NE(run(__NR_clone, {flag | SIGCHLD}), kAllow) << flag;
    EXPECT_NE(run(__NR_clone, {flag | SIGCHLD | kHigh}), kAllow) << flag;
    EXPECT_NE(run(__NR_clone, {flag | thread}), kAllow) << flag;
    EXPECT_NE(run(__NR_clone, {flag | thread}, {.count_processes = true}), kAllow) << flag;
    EXPECT_NE(run(__NR_unshare, {flag}), kAllow) << flag;
    EXPECT_NE(run(__NR_unshare, {flag | kHigh}), kAllow) << flag;
  }
  EXPECT_NE(run(__NR_unshare, {0x80 /* NEWTIME */}), kAllow);
  EXPECT_EQ(run(__NR_unshare, {CLONE_FILES}), kAllow);
  EXPECT_EQ(run(__NR_unshare, {CLONE_FS | CLONE_SYSVSEM}), kAllow);
}

TEST_F(Filter, CountedForks) {
  const FilterOptions counted{.count_processes = true};
  EXPECT_EQ(run(__NR_fork), kAllow);
  EXPECT_EQ(run(__NR_vfork), kAllow);
  EXPECT_EQ(run(__NR_fork, {}, counted), kNotify);
  EXPECT_EQ(run(__NR_vfork, {}, counted), kNotify);
  EXPECT_EQ(run(__NR_clone, {SIGCHLD}, counted), kNotify);
  EXPECT_EQ(run(__NR_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}, counted), kNotify);
  EXPECT_EQ(run(__NR_clone, {CLONE_VM | CLONE_SIGHAND | CLONE_THREAD}, counted), kAllow);
  EXPECT_EQ(run(__NR_clone3, {}, counted), fails(ENOSYS));
}

TEST_F(Filter, FixedCpus) {
  EXPECT_EQ(run(__NR_sched_setaffinity), kAllow);
  EXPECT_EQ(run(__NR_sched_setaffinity, {}, {.fixed_cpus = true}), fails(EPERM));
}

TEST_F(Filter, CountedWrites) {
  EXPECT_EQ(run(__NR_fallocate), kAllow);
  EXPECT_EQ(run(__NR_fallocate, {}, {.count_written = true}), fails(EOPNOTSUPP));
}

TEST_F(Filter, CountedMemoryKeepsPagesInProcesses) {
  EXPECT_EQ(run(__NR_vmsplice), kAllow);
  EXPECT_EQ(run(__NR_vmsplice, {}, {.count_memory = true}), fails(ENOSYS));
  for (const int call : {__NR_splice, __NR_sendfile}) {
    EXPECT_EQ(run(call), kAllow);
    EXPECT_EQ(run(call, {}, {.count_memory = true}), fails(EINVAL));
  }
  EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, SO_ZEROCOPY}), kAllow);
  EXPECT_EQ(run(__NR_setsockopt, {3, SOL_SOCKET, SO_ZEROCOPY}, {.count_memory = true}),
            fails(ENOPROTOOPT));
}

TEST_F(Filter, CountedMemoryBoundsWhatCallsWaitFor) {
  const FilterOptions counted{.count_memory = true};
  for (const int call : {__NR_poll, __NR_ppoll}) {
    EXPECT_EQ(run(call, {0, 1'000'000}), kAllow);
    EXPECT_EQ(run(call, {0, 1024 | kHigh}, counted), kAllow);
    EXPECT_EQ(run(call, {0, 1025}, counted), fails(EINVAL));
    EXPECT_EQ(run(call, {0, 0xffffffff}, counted), fails(EINVAL));
  }
  for (const int call : {__NR_select, __NR_pselect6}) {
    EXPECT_EQ(run(call, {1'000'000}), kAllow);
    EXPECT_EQ(run(call, {0}, counted), kAllow);
    EXPECT_EQ(run(call, {1024 | kHigh}, counted), kAllow);
    EXPECT_EQ(run(call, {1025}, counted), fails(EINVAL));
  }
}

TEST_F(Filter, CountedMemoryIsSmallPagesWithoutPolicies) {
  const FilterOptions counted{.count_memory = true};
  for (const int call : {__NR_mbind, 450 /* set_mempolicy_home_node */}) {
    EXPECT_EQ(run(call), kAllow);
    EXPECT_EQ(run(call, {}, counted), fails(ENOSYS));
  }
  EXPECT_EQ(run(__NR_set_mempolicy, {}, counted), kAllow);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_THP_DISABLE}), kAllow);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_THP_DISABLE}, counted), fails(0));
  EXPECT_EQ(run(__NR_prctl, {PR_GET_THP_DISABLE}, counted), kAllow);
}

TEST_F(Filter, CountedMemoryKeepsDescriptorsTogether) {
  constexpr uint64_t kApart = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
  const FilterOptions counted{.count_memory = true};
  EXPECT_EQ(run(__NR_clone, {kApart}), kAllow);
  EXPECT_EQ(run(__NR_clone, {kApart}, counted), fails(ENOMEM));
  EXPECT_EQ(run(__NR_clone, {kApart | CLONE_FILES}, counted), kAllow);
  EXPECT_EQ(run(__NR_clone, {SIGCHLD}, counted), kAllow);
  EXPECT_EQ(run(__NR_unshare, {CLONE_FILES}, counted), fails(ENOMEM));
  EXPECT_EQ(run(__NR_unshare, {CLONE_FS}, counted), kAllow);
  EXPECT_NE(run(__NR_unshare, {CLONE_FILES | CLONE_NEWNET}, counted), kAllow);
  EXPECT_EQ(run(__NR_close_range, {3, 9, 4}, counted), kAllow);
  EXPECT_EQ(run(__NR_close_range, {3, 9, 2}), kAllow);
  EXPECT_EQ(run(__NR_close_range, {3, 9, 6}, counted), fails(ENOMEM));
}

TEST_F(Filter, HugePages) {
  EXPECT_EQ(run(__NR_mmap, {0, 1, 3, 0x22}), kAllow);
  EXPECT_EQ(run(__NR_mmap, {0, 1, 3, 0x40022}), fails(ENOMEM));
  EXPECT_EQ(run(__NR_mmap, {0, 1, 3, 0x54040022 | kHigh}), fails(ENOMEM)) << "with a size";
  EXPECT_EQ(run(__NR_shmget, {0, 1, 01600}), kAllow);
  EXPECT_EQ(run(__NR_shmget, {0, 1, 05600}), fails(ENOMEM));
  EXPECT_EQ(run(__NR_memfd_create, {0, 3}), kAllow);
  for (const uint64_t flags : {0x7u, 0xcu, 0x14u, 0x54000004u})
    EXPECT_EQ(run(__NR_memfd_create, {0, flags | kHigh}), fails(ENOMEM)) << std::hex << flags;
  // What no kernel takes is no question of huge pages.
  for (const uint64_t flags : {0xffffffffu, 0x1cu, 0x24u, 0x2000004u})
    EXPECT_EQ(run(__NR_memfd_create, {0, flags}), fails(EINVAL)) << std::hex << flags;
}

TEST_F(Filter, Ioctl) {
  for (uint64_t command : {0x5412u, 0x541cu, 0x541du, 0x5423u, 0x4b49u, 0x40086602u, 0x401c5820u}) {
    EXPECT_NE(run(__NR_ioctl, {0, command}), kAllow) << std::hex << command;
    EXPECT_NE(run(__NR_ioctl, {0, command | kHigh}), kAllow) << std::hex << command;
    EXPECT_NE(run(__NR_ioctl, {0, command | (~uint64_t{0} << 32)}), kAllow) << std::hex << command;
  }
  for (uint64_t command :
       {uint64_t{TCGETS}, uint64_t{TIOCGWINSZ}, uint64_t{FIONREAD}, uint64_t{FIONBIO},
        uint64_t{FIOCLEX}, uint64_t{0x8933} /* SIOCGIFINDEX */, uint64_t{0x40049409} /* FICLONE */,
        uint64_t{0x80086601} /* FS_IOC_GETFLAGS */}) {
    EXPECT_EQ(run(__NR_ioctl, {0, command}), kAllow) << std::hex << command;
  }
  // A program has a terminal of its own.
  for (uint64_t command : {uint64_t{TCSETS}, uint64_t{TCFLSH}, uint64_t{TIOCSPGRP}})
    EXPECT_EQ(run(__NR_ioctl, {0, command}), kAllow) << std::hex << command;
  EXPECT_EQ(run(__NR_ioctl, {0, 0x8927 /* SIOCGIFHWADDR */}), fails(EPERM));
  EXPECT_EQ(run(__NR_ioctl, {0, 0x89f0 /* SIOCDEVPRIVATE */}), fails(EPERM));
  EXPECT_EQ(run(__NR_ioctl, {0, 0x89ff}), fails(EPERM));
  EXPECT_EQ(run(__NR_ioctl, {0, 0x8946 /* SIOCETHTOOL */}), fails(EPERM));
  // Compares with the content of a file that is open for writing only.
  EXPECT_EQ(run(__NR_ioctl, {0, 0xc0189436 /* FIDEDUPERANGE */}), fails(ENOTTY));
  EXPECT_EQ(run(__NR_ioctl, {0, 0x5000940f /* BTRFS_IOC_SNAP_DESTROY */}), fails(ENOTTY));
  EXPECT_EQ(run(__NR_ioctl, {0, 0xc0000000}), fails(ENOTTY));
  EXPECT_EQ(run(__NR_ioctl, {0, 0x5606 | kHigh /* VT_ACTIVATE */}), fails(EPERM));
  EXPECT_EQ(run(__NR_ioctl, {0, 0x80685600 /* VIDIOC_QUERYCAP */}), kAllow);
}

TEST_F(Filter, ProcessControls) {
  EXPECT_EQ(run(__NR_prctl, {PR_SET_NAME, 1}), kAllow);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_NO_NEW_PRIVS, 1}), kAllow);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_DUMPABLE, 1}), kAllow);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_DUMPABLE, 0}), fails(0)) << "pretended";
  EXPECT_EQ(run(__NR_prctl, {PR_SET_SECCOMP, SECCOMP_MODE_FILTER}), kNotify);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_SECCOMP | kHigh, SECCOMP_MODE_FILTER | kHigh}), kNotify);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_SECCOMP, SECCOMP_MODE_STRICT}), kAllow);
  EXPECT_EQ(run(__NR_seccomp, {SECCOMP_SET_MODE_FILTER}), kNotify);
  EXPECT_EQ(run(__NR_seccomp, {SECCOMP_GET_ACTION_AVAIL}), kAllow);
  EXPECT_EQ(run(__NR_prctl, {PR_SET_MM, 1}), fails(EPERM));
  EXPECT_EQ(run(__NR_prctl, {78 /* PR_FUTEX_HASH */, 1}), fails(EINVAL));
  EXPECT_EQ(run(__NR_prctl, {PR_SET_MM | kHigh, 1}), fails(EPERM));
  EXPECT_EQ(run(__NR_prctl, {PR_SET_PTRACER, ~uint64_t{0}}), fails(EINVAL));
  EXPECT_EQ(run(__NR_personality, {0xffffffff}), kAllow);
  EXPECT_EQ(run(__NR_personality, {0}), kAllow);
  EXPECT_EQ(run(__NR_personality, {0x0400000 /* READ_IMPLIES_EXEC */}), fails(EPERM));
  EXPECT_EQ(run(__NR_setpriority, {0, 0, 5}), kAllow);
  EXPECT_EQ(run(__NR_setpriority, {1, 0, 5}), kAllow) << "which is never init's";
  EXPECT_EQ(run(__NR_setpriority, {1, 1 | kHigh, 5}), fails(EPERM));
  EXPECT_EQ(run(__NR_ioprio_set, {2, 0, 5}), kAllow);
  EXPECT_EQ(run(__NR_ioprio_set, {2, 1, 5}), fails(EPERM));
  EXPECT_EQ(run(__NR_setpgid, {0, 1 | kHigh}), fails(EPERM));
  EXPECT_EQ(run(__NR_setpgid, {0, 0}), kAllow);
  EXPECT_EQ(run(__NR_fcntl, {3, 1024 | kHigh, 0}), fails(EACCES)) << "F_SETLEASE";
  EXPECT_EQ(run(__NR_fcntl, {3, 1040, 0}), fails(EACCES)) << "F_SETDELEG";
  EXPECT_EQ(run(__NR_fcntl, {3, 1, 0}), kAllow);
  EXPECT_EQ(run(__NR_fcntl, {3, F_SETFL, O_NONBLOCK}), kAllow);
  EXPECT_EQ(run(__NR_fcntl, {3, F_SETFL | kHigh, O_ASYNC | O_NONBLOCK | kHigh}), kNotify);
  EXPECT_EQ(run(__NR_fcntl, {3, 10 /* F_SETSIG */, SIGIO}), kAllow);
  EXPECT_EQ(run(__NR_fcntl, {3, 10, 0}), kAllow);
  EXPECT_EQ(run(__NR_fcntl, {3, 10 | kHigh, SIGSTOP}), fails(EINVAL));
  EXPECT_EQ(run(__NR_fcntl, {3, 8 /* F_SETOWN */, 1}), kAllow);
  EXPECT_EQ(run(__NR_ioctl, {3, FIOASYNC | kHigh, 0x1000}), kNotify);
  EXPECT_EQ(run(__NR_ioctl, {3, FIONBIO, 0x1000}), kAllow);
}

TEST_F(Filter, NotifiedCallsAreTheOnesWithANotifyingCase) {
  for (const CallRule& rule : call_rules()) {
    const std::string name = rule.name;
    if (name == "openat" || name == "sendto" || name == "socket" || name == "unshare" ||
        name == "clone") {
      EXPECT_TRUE(is_notified(rule, {})) << name;
    }
    if (name == "read" || name == "clone3" || name == "fork") {
      EXPECT_FALSE(is_notified(rule, {})) << name;
    }
    if (name == "fork" || name == "clone") {
      EXPECT_TRUE(is_notified(rule, {.count_processes = true})) << name;
    }
  }
}

}  // namespace
}  // namespace bulkhead
