// Kernel interfaces newer than the headers of Debian 12: numbers and flags up to Linux 6.18.
//
// System call numbers are macros, as in <asm/unistd.h>, so that newer headers simply win.
// Everything else has a name of our own, because newer headers define theirs as macros.
#pragma once

#include <asm/unistd.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <cstdint>

#if !defined(__x86_64__) || defined(__ILP32__)
#error "bulkhead serves x86-64 only: its filter kills every other architecture"
#endif

// NOLINTBEGIN(bugprone-reserved-identifier): the kernel's own names.
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454
#endif
#ifndef __NR_futex_wait
#define __NR_futex_wait 455
#endif
#ifndef __NR_futex_requeue
#define __NR_futex_requeue 456
#endif
#ifndef __NR_statmount
#define __NR_statmount 457
#endif
#ifndef __NR_listmount
#define __NR_listmount 458
#endif
#ifndef __NR_lsm_get_self_attr
#define __NR_lsm_get_self_attr 459
#endif
#ifndef __NR_lsm_set_self_attr
#define __NR_lsm_set_self_attr 460
#endif
#ifndef __NR_lsm_list_modules
#define __NR_lsm_list_modules 461
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __NR_getxattrat
#define __NR_getxattrat 464
#endif
#ifndef __NR_listxattrat
#define __NR_listxattrat 465
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif
// NOLINTEND(bugprone-reserved-identifier)

namespace bulkhead {

// landlock(7). Rights that ABI 3 and 5 added; scopes of ABI 6.
inline constexpr uint64_t kLandlockTruncate = uint64_t{1} << 14;
inline constexpr uint64_t kLandlockIoctlDev = uint64_t{1} << 15;
inline constexpr uint64_t kLandlockScopeAbstractUnix = uint64_t{1} << 0;
inline constexpr uint64_t kLandlockScopeSignal = uint64_t{1} << 1;
struct LandlockRulesetAttr {  // struct landlock_ruleset_attr since ABI 6
  uint64_t handled_access_fs = 0;
  uint64_t handled_access_net = 0;
  uint64_t scoped = 0;
};

// seccomp_unotify(2): wake the supervisor on the caller's core (Linux 6.6).
inline constexpr unsigned long kSeccompNotifSetFlags = _IOW('!', 4, uint64_t);
inline constexpr uint64_t kSeccompNotifSyncWakeUp = 1;

// ERESTARTSYS, which no program ever sees: a thread that has a signal to handle makes the call
// again afterwards, or gets EINTR where that signal's handler is without SA_RESTART.
inline constexpr int kRestart = 512;

// pidfd_open(2): a descriptor of one thread (Linux 6.9).
inline constexpr unsigned kPidfdThread = 0x80;  // O_EXCL

// ioctl_nsfs(2): a number of that pid namespace as one of ours (Linux 6.11).
inline constexpr unsigned long kNsGetPidFromPidns = _IOR(0xb7, 0x6, int);

// socket(7): an inode-like identity of the socket's network namespace (Linux 5.14).
inline constexpr int kSoNetnsCookie = 71;

}  // namespace bulkhead
