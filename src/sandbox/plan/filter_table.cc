// The table of system calls. See filter.h for what a row means.
//
// A call may be `ALLOW` when it names no path, program, address or foreign process, or
// when Landlock, a namespace or the missing capabilities decide it anyway. Whoever
// adds a row states which.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "sandbox/kernel/kernel.h"
#include "sandbox/plan/filter.h"

namespace bulkhead {
namespace {

using Type = CallAction::Type;
constexpr CallAction kAllow{Type::kAllow, 0};
constexpr CallAction kNotify{Type::kNotify, 0};
constexpr CallAction kCount{Type::kNotifyIfForksCount, EAGAIN};
constexpr CallAction refuse(int errno_value) { return {Type::kErrno, errno_value}; }
// Refused as well, but by the supervisor, which journals the attempt and answers this errno.
constexpr CallAction attempt(int errno_value) { return {Type::kNotify, errno_value}; }

#define VALUES(name, ...) constexpr uint32_t name[] = {__VA_ARGS__}
#define TESTS(name, ...) constexpr CallTest name[] = {__VA_ARGS__}

// ---- socket(domain, type, protocol), socketpair ----
// AF_UNIX datagram sockets are refused: sendmsg could name a path that no filter sees. SOCK_RAW
// means datagram there. Of the protocols only TCP and UDP: MPTCP connects past rules for TCP,
// UDP-Lite and SCTP are nobody's need; EPROTONOSUPPORT makes callers (Go, curl) use plain TCP.
VALUES(kUnix, AF_UNIX);
VALUES(kInternet, AF_INET, AF_INET6);
VALUES(kNetlink, AF_NETLINK);
VALUES(kConnected, SOCK_STREAM, SOCK_SEQPACKET);
VALUES(kStream, SOCK_STREAM);
VALUES(kDatagram, SOCK_DGRAM);
VALUES(kRaw, SOCK_RAW);
VALUES(kTcp, 0, IPPROTO_TCP);
VALUES(kUdp, 0, IPPROTO_UDP);
VALUES(kRoute, 0);                   // NETLINK_ROUTE
constexpr uint32_t kTypeMask = 0xf;  // the rest are SOCK_NONBLOCK and SOCK_CLOEXEC
TESTS(kUnixConnected, {0, ~0u, kUnix}, {1, kTypeMask, kConnected});
TESTS(kUnixAny, {0, ~0u, kUnix});
TESTS(kTcpSocket, {0, ~0u, kInternet}, {1, kTypeMask, kStream}, {2, ~0u, kTcp});
TESTS(kUdpSocket, {0, ~0u, kInternet}, {1, kTypeMask, kDatagram}, {2, ~0u, kUdp});
TESTS(kRawSocket, {0, ~0u, kInternet}, {1, kTypeMask, kRaw});
TESTS(kInternetAny, {0, ~0u, kInternet});
TESTS(kNetlinkRoute, {0, ~0u, kNetlink}, {2, ~0u, kRoute});
TESTS(kNetlinkAny, {0, ~0u, kNetlink});
constexpr CallCase kSocket[] = {
    {kUnixConnected, kAllow},     {kUnixAny, refuse(EACCES)},
    {kTcpSocket, kAllow},         {kUdpSocket, kAllow},
    {kRawSocket, attempt(EPERM)}, {kInternetAny, refuse(EPROTONOSUPPORT)},
    {kNetlinkRoute, kAllow},      {kNetlinkAny, refuse(EPROTONOSUPPORT)},
};
// ---- access(path, mode), faccessat, faccessat2: only where reading or writing is asked about ----
VALUES(kReading, R_OK);
VALUES(kWriting, W_OK);
TESTS(kAccessReading, {1, R_OK, kReading});
TESTS(kAccessWriting, {1, W_OK, kWriting});
TESTS(kAccessAtReading, {2, R_OK, kReading});
TESTS(kAccessAtWriting, {2, W_OK, kWriting});
constexpr CallCase kAccess[] = {{kAccessReading, kNotify}, {kAccessWriting, kNotify}};
constexpr CallCase kAccessAt[] = {{kAccessAtReading, kNotify}, {kAccessAtWriting, kNotify}};

constexpr CallCase kSocketpair[] = {{kUnixConnected, kAllow}, {kUnixAny, attempt(EACCES)}};

// ---- sendto(…, flags, address), sendmsg(…, flags), sendmmsg(…, flags) ----
// MSG_FASTOPEN connects. EOPNOTSUPP is what the kernel says where Fast Open is off, so clients
// connect instead. The flag is one bit: masked, its only non-zero value is itself.
VALUES(kFastOpenFlag, MSG_FASTOPEN);
TESTS(kFastOpen2, {2, MSG_FASTOPEN, kFastOpenFlag});
TESTS(kFastOpen3, {3, MSG_FASTOPEN, kFastOpenFlag});
TESTS(kWithAddress, {4, ~0u, {}});
constexpr CallCase kSendto[] = {{kFastOpen3, attempt(EOPNOTSUPP)}, {kWithAddress, kNotify}};
constexpr CallCase kSendmsg[] = {{kFastOpen2, attempt(EOPNOTSUPP)}};
constexpr CallCase kSendmmsg[] = {{kFastOpen3, attempt(EOPNOTSUPP)}};

// ---- getxattr(path, name, value, size), lgetxattr, fgetxattr ----
// Without room for a value the answer is its length, which is status as a file's own.
TESTS(kWithRoom, {3, ~0u, {}});
constexpr CallCase kGetxattr[] = {{kWithRoom, kNotify}};

// ---- prlimit64(pid, what, limits), sched_set…(pid), setpriority(which, pid): of init ----
// It is of the same user. A limit would end it, and the run; and as nothing ends before it does, a
// low priority would hold up every other limit for as long as the program keeps processors busy. It
// has one thread, and leads a group that nobody joins, so no other number means it.
VALUES(kOne, 1);
VALUES(kProcess, PRIO_PROCESS);
VALUES(kUser, PRIO_USER);
TESTS(kOfInit, {0, ~0u, kOne});
TESTS(kLimitInit, {0, ~0u, kOne}, {2, ~0u, {}});
TESTS(kPriorityOfInit, {0, ~0u, kProcess}, {1, ~0u, kOne});
TESTS(kPriorityOfGroup, {0, ~0u, kOne /* PRIO_PGRP */}, {1, ~0u, kOne});
TESTS(kPriorityOfUser, {0, ~0u, kUser});
constexpr CallCase kScheduled[] = {{kOfInit, refuse(EPERM)}};

// ---- setrlimit(what, limits), prlimit64(pid, what, limits, old): of core dumps ----
// Left at 1 (init/program.cc), since 0 would hand the memory to the machine's crash handler.
// Pretended, because programs with secrets lower it themselves and give up where they cannot.
VALUES(kCore, RLIMIT_CORE);
TESTS(kSetCore, {0, ~0u, kCore});
TESTS(kSwapCore, {1, ~0u, kCore}, {2, ~0u, {}}, {3, ~0u, {}});
TESTS(kSetCore64, {1, ~0u, kCore}, {2, ~0u, {}});
constexpr CallCase kSetrlimit[] = {{kSetCore, refuse(0)}};
constexpr CallCase kPrlimit[] = {
    {kLimitInit, attempt(EPERM)}, {kSwapCore, refuse(EPERM)}, {kSetCore64, refuse(0)}};

// ---- setsockopt(fd, level, name), getsockopt ----
// TCP_ULP swaps a socket's protocol, TCP_FASTOPEN_CONNECT defers connect to the first write. Source
// routes (IP_OPTIONS, IPV6_RTHDR, IPV6_2292PKTOPTIONS) would send a connected socket's segments to
// another address than the one that was granted. Keys that sign segments (TCP_MD5SIG,
// TCP_AO_ADD_KEY) take the kernel's memory, 180 KB for a socket that nothing lists. SO_BINDTODEVICE
// and its kin would send them by another interface than the machine's routes say: past a VPN.
// Before 5.7 that took a capability.
VALUES(kLevelSocket, SOL_SOCKET);
VALUES(kDevices, SO_BINDTODEVICE, 62 /* SO_BINDTOIFINDEX */);
VALUES(kLevelTcp, IPPROTO_TCP);
VALUES(kTcpNames, 30 /* TCP_FASTOPEN_CONNECT */, 31 /* TCP_ULP */, 14 /* TCP_MD5SIG */,
       32 /* TCP_MD5SIG_EXT */, 38 /* TCP_AO_ADD_KEY */);
VALUES(kLevelIp, IPPROTO_IP);
VALUES(kIpNames, 4 /* IP_OPTIONS */);
VALUES(kLevelIp6, IPPROTO_IPV6);
VALUES(kIp6Names, 6 /* IPV6_2292PKTOPTIONS */, 5 /* IPV6_2292RTHDR */, 57 /* IPV6_RTHDR */);
// Joining a multicast group on a socket from outside would send the machine's network a packet with
// an address of the program's choice. The loopback inside has no multicast: ENODEV is what it says.
VALUES(kIpGroups, 35 /* IP_ADD_MEMBERSHIP */, 39 /* IP_ADD_SOURCE_MEMBERSHIP */,
       42 /* MCAST_JOIN_GROUP */, 46 /* MCAST_JOIN_SOURCE_GROUP */);
VALUES(kIp6Groups, 20 /* IPV6_JOIN_GROUP */, 27 /* IPV6_JOIN_ANYCAST */, 42, 46);
// Flow labels are some thousands for the whole machine. ENOPROTOOPT is what a network without them
// says: programs send without.
VALUES(kFlowLabels, 32 /* IPV6_FLOWLABEL_MGR */);
// A descriptor of the process at a socket's other end, which may be one outside: it tells when that
// ends. Calls that act by one are refused, or want a process of the compartment's; that there will
// be no others nobody promises. ENOPROTOOPT is what older kernels say.
VALUES(kPassPidfd, 76 /* SO_PASSPIDFD */);
VALUES(kPeerPidfd, 77 /* SO_PEERPIDFD */);
// A filter of a socket takes the kernel's memory, and the machine's for compiled programs, which no
// limit counts. ENOPROTOOPT is what kernels without them say: programs then look at all that comes.
VALUES(kSocketFilters, SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF,
       SO_ATTACH_REUSEPORT_EBPF);
// Sending what is in a process without a copy: one byte of a huge page keeps all of it, as
// nobody's.
VALUES(kZeroCopy, 60 /* SO_ZEROCOPY */);
constexpr CallAction kOwnCopies{Type::kErrnoIfMemoryCounts, ENOPROTOOPT};
TESTS(kZeroCopyTest, {1, ~0u, kLevelSocket}, {2, ~0u, kZeroCopy});
TESTS(kSocketFilter, {1, ~0u, kLevelSocket}, {2, ~0u, kSocketFilters});
TESTS(kPassPidfdTest, {1, ~0u, kLevelSocket}, {2, ~0u, kPassPidfd});
TESTS(kPeerPidfdTest, {1, ~0u, kLevelSocket}, {2, ~0u, kPeerPidfd});
TESTS(kIpGroup, {1, ~0u, kLevelIp}, {2, ~0u, kIpGroups});
TESTS(kIp6Group, {1, ~0u, kLevelIp6}, {2, ~0u, kIp6Groups});
TESTS(kFlowLabel, {1, ~0u, kLevelIp6}, {2, ~0u, kFlowLabels});
TESTS(kDevice, {1, ~0u, kLevelSocket}, {2, ~0u, kDevices});
TESTS(kTcpOption, {1, ~0u, kLevelTcp}, {2, ~0u, kTcpNames});
TESTS(kIpOption, {1, ~0u, kLevelIp}, {2, ~0u, kIpNames});
TESTS(kIp6Option, {1, ~0u, kLevelIp6}, {2, ~0u, kIp6Names});
constexpr CallCase kSetsockopt[] = {
    {kDevice, attempt(EPERM)},         {kTcpOption, refuse(ENOPROTOOPT)},
    {kIpOption, attempt(EPERM)},       {kIp6Option, attempt(EPERM)},
    {kIpGroup, refuse(ENODEV)},        {kIp6Group, refuse(ENODEV)},
    {kFlowLabel, refuse(ENOPROTOOPT)}, {kSocketFilter, refuse(ENOPROTOOPT)},
    {kZeroCopyTest, kOwnCopies},       {kPassPidfdTest, refuse(ENOPROTOOPT)}};
constexpr CallCase kGetsockopt[] = {{kPeerPidfdTest, refuse(ENOPROTOOPT)}};

// ---- clone(flags), unshare(flags), fork, close_range(…, flags) ----
// A new user namespace gives all capabilities in it, and with them mounts and packet filters: the
// kernel's largest surface. The flags are in a register, so the supervisor's refusal is final;
// behind it, init allows this user namespace no others (mounts.cc). clone3's flags are in memory:
// ENOSYS makes libc use clone.
VALUES(kNone, 0);
constexpr uint32_t kNamespaceMask = 0x00020000 /* NEWNS */ | 0x02000000 /* NEWCGROUP */ |
                                    0x04000000 /* NEWUTS */ | 0x08000000 /* NEWIPC */ |
                                    0x10000000 /* NEWUSER */ | 0x20000000 /* NEWPID */ |
                                    0x40000000 /* NEWNET */;
VALUES(kThread, 0x00010000 /* CLONE_THREAD */);
// Where memory is counted, a thread has no descriptors of its own: memfds in them would be
// nobody's.
constexpr CallAction kOwnDescriptors{Type::kErrnoIfMemoryCounts, ENOMEM};
constexpr uint32_t kFilesFlag = 0x400;  // CLONE_FILES
// Nor does a pipe take pages of a process, or a pipe or socket those of a file: one byte of a huge
// page keeps all of it, as nobody's. EINVAL is what a file system without splice says.
constexpr CallAction kOwnPages{Type::kErrnoIfMemoryCounts, ENOSYS};
constexpr CallAction kFilesPages{Type::kErrnoIfMemoryCounts, EINVAL};
// What is waited for takes the kernel's memory while a call waits: 72 bytes a descriptor, of which
// one can stand there a million times. libc's sets for select() end at 1,024; EINVAL is what more
// than a process may have open gets.
constexpr CallAction kLongWait{Type::kErrnoIfMemoryCounts, EINVAL};
VALUES(kWaitEnd, 1024);
TESTS(kPollFew, {1, 0xfffffc00, kNone});
TESTS(kPollEnd, {1, ~0u, kWaitEnd});
TESTS(kSelectFew, {0, 0xfffffc00, kNone});
TESTS(kSelectEnd, {0, ~0u, kWaitEnd});
constexpr CallCase kPoll[] = {{kPollFew, kAllow}, {kPollEnd, kAllow}};
constexpr CallCase kSelect[] = {{kSelectFew, kAllow}, {kSelectEnd, kAllow}};
// A policy of its own for each page of a file in memory stays with the file, and is in no process.
// ENOSYS is what a kernel says that knows no nodes of memory.
constexpr CallAction kPlaced{Type::kErrnoIfMemoryCounts, ENOSYS};
VALUES(kFiles, kFilesFlag);
TESTS(kThreadApart, {0, kNamespaceMask, kNone}, {0, 0x00010000, kThread}, {0, kFilesFlag, kNone});
TESTS(kNoNamespaceThread, {0, kNamespaceMask, kNone}, {0, 0x00010000, kThread});
TESTS(kNoNamespace, {0, kNamespaceMask, kNone});
constexpr CallCase kClone[] = {
    {kThreadApart, kOwnDescriptors}, {kNoNamespaceThread, kAllow}, {kNoNamespace, kCount}};
TESTS(kNoNamespaceOrTime, {0, kNamespaceMask | 0x80 /* NEWTIME */, kNone});
TESTS(kApart, {0, kNamespaceMask | 0x80, kNone}, {0, kFilesFlag, kFiles});
constexpr CallCase kUnshare[] = {{kApart, kOwnDescriptors}, {kNoNamespaceOrTime, kAllow}};
VALUES(kCloseApart, 2 /* CLOSE_RANGE_UNSHARE */);
TESTS(kCloseApartTest, {2, 2, kCloseApart});
constexpr CallCase kCloseRange[] = {{kCloseApartTest, kOwnDescriptors}};

// ---- ioctl(fd, command) ----
// An allow list: injected descriptors were opened outside Landlock, and file systems have commands
// that write through a descriptor opened for reading (btrfs makes and removes subvolumes so).
// Kept out of 'T': input injection (TIOCSTI, TIOCLINUX), console theft, line disciplines. 'K' and
// the virtual console's key maps could type for the user.
VALUES(kTerminalTheft, 0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */, 0x541d /* TIOCCONS */,
       0x5423 /* TIOCSETD */, 0x5437 /* TIOCVHANGUP */, 0x4b47 /* KDSKBENT */,
       0x4b49 /* KDSKBSENT */, 0x4b4b /* KDSKBDIACR */, 0x4bfb /* KDSKBDIACRUC */,
       0x4b4d /* KDSETKEYCODE */);
// Attributes of files, settable through a descriptor opened for reading.
VALUES(kAttributes, 0x40086602 /* FS_IOC_SETFLAGS */, 0x40046602 /* FS_IOC32_SETFLAGS */,
       0x401c5820 /* FS_IOC_FSSETXATTR */, 0x40087602 /* FS_IOC_SETVERSION */,
       0x40047602 /* FS_IOC32_SETVERSION */, 0x40047211 /* FAT_IOCTL_SET_ATTRIBUTES */,
       0x800c6613 /* FS_IOC_SET_ENCRYPTION_POLICY */, 0x40806685 /* FS_IOC_ENABLE_VERITY */);
// Switching and locking virtual consoles; numbers with bits above these are cameras'.
VALUES(kConsoles, 0x5600);
// A connection that was granted is a socket of the machine's network: by it these tell the cards'
// and the neighbours' hardware addresses, which say which machine this is, and where.
VALUES(kHardware, 0x8927 /* SIOCGIFHWADDR */, 0x8946 /* SIOCETHTOOL */, 0x8947 /* SIOCGMIIPHY */,
       0x8948 /* SIOCGMIIREG */, 0x8954 /* SIOCGARP */);
// Of drivers, each with a meaning of its own: a bridge tells its address and its neighbours'.
VALUES(kOfDrivers, 0x89f0 /* SIOCDEVPRIVATE … +15 */);
// By their type byte: terminals and FIO*, sockets, namespaces, pidfds; devices that are useful once
// a policy has granted them (graphics, sound, video, input, frame buffer, KVM).
VALUES(kHarmlessTypes, 0x5400, 0x8900, 0xb700, 0xff00, 0x6400, 0x4100, 0x5500, 0x5600, 0x4500,
       0x4600, 0xae00);
// The rest that programs use on files. Cloning needs a writable target and a readable source.
// Missing on purpose: FIDEDUPERANGE, which compares with a file that may only be written.
VALUES(kHarmless, 0x2 /* FIGETBSZ */, 0x80086601 /* FS_IOC_GETFLAGS */,
       0x80046601 /* FS_IOC32_GETFLAGS */, 0x80087601 /* FS_IOC_GETVERSION */,
       0x801c581f /* FS_IOC_FSGETXATTR */, 0xc020660b /* FS_IOC_FIEMAP */, 0x40049409 /* FICLONE */,
       0x4020940d /* FICLONERANGE */, 0x81009431 /* FS_IOC_GETFSLABEL */,
       0x80111500 /* FS_IOC_GETFSUUID */, 0x80811501 /* FS_IOC_GETFSSYSFSPATH */,
       0xc0096616 /* FS_IOC_GET_ENCRYPTION_POLICY_EX */, 0xc0046686 /* FS_IOC_MEASURE_VERITY */,
       0x80081272 /* BLKGETSIZE64 */, 0x1268 /* BLKSSZGET */, 0x1260 /* BLKGETSIZE */,
       0x125e /* BLKROGET */, 0x127b /* BLKPBSZGET */, 0x80081270 /* BLKBSZGET */,
       0x80045200 /* RNDGETENTCNT */, 0x4b33 /* KDGKBTYPE */, 0x4b3b /* KDGETMODE */,
       0x4b44 /* KDGKBMODE */);
VALUES(kSetAsync, FIOASYNC);  // calls/async.cc
TESTS(kSetAsyncTest, {1, ~0u, kSetAsync});
TESTS(kTerminalTheftTest, {1, ~0u, kTerminalTheft});
TESTS(kAttributesTest, {1, ~0u, kAttributes});
TESTS(kConsolesTest, {1, 0xffffff00, kConsoles});
TESTS(kHardwareTest, {1, ~0u, kHardware});
TESTS(kOfDriversTest, {1, 0xfffffff0, kOfDrivers});
TESTS(kHarmlessTypesTest, {1, 0xff00, kHarmlessTypes});
TESTS(kHarmlessTest, {1, ~0u, kHarmless});
constexpr CallCase kIoctl[] = {
    {kTerminalTheftTest, attempt(EPERM)}, {kAttributesTest, attempt(EPERM)},
    {kConsolesTest, refuse(EPERM)},       {kHardwareTest, refuse(EPERM)},
    {kOfDriversTest, refuse(EPERM)},      {kSetAsyncTest, kNotify},
    {kHarmlessTypesTest, kAllow},         {kHarmlessTest, kAllow}};

// ---- mmap(…, flags), shmget(key, size, flags), memfd_create(name, flags): huge pages ----
// The machine has a fixed number of them for all, and no limit on memory counts them. ENOMEM is
// what it says where there are none: programs take small ones then. Each flag is one bit. Of
// memfd_create the kernel asks first whether it knows all flags (the size of pages among them), and
// not both of MFD_NOEXEC_SEAL and MFD_EXEC: Chromium tries all bits, and ends at another answer.
VALUES(kHugeMap, 0x40000 /* MAP_HUGETLB */);
VALUES(kHugeSegment, 04000 /* SHM_HUGETLB */);
constexpr uint32_t kHugeFileFlag = 4;  // MFD_HUGETLB
constexpr uint32_t kHugeFileMask = ~(0x3u /* CLOEXEC, ALLOW_SEALING */ | 0xfc000000 /* sizes */);
VALUES(kHugeFile, kHugeFileFlag, kHugeFileFlag | 0x8 /* NOEXEC_SEAL */,
       kHugeFileFlag | 0x10 /* EXEC */);
VALUES(kHugeFileAny, kHugeFileFlag);
TESTS(kHugeMapTest, {3, 0x40000, kHugeMap});
TESTS(kHugeSegmentTest, {2, 04000, kHugeSegment});
TESTS(kHugeFileTest, {1, kHugeFileMask, kHugeFile});
TESTS(kHugeFileAnyTest, {1, kHugeFileFlag, kHugeFileAny});
constexpr CallCase kMmap[] = {{kHugeMapTest, refuse(ENOMEM)}};
constexpr CallCase kShmget[] = {{kHugeSegmentTest, refuse(ENOMEM)}};
constexpr CallCase kMemfd[] = {{kHugeFileTest, refuse(ENOMEM)}, {kHugeFileAnyTest, refuse(EINVAL)}};

// ---- fcntl: a lease on a file that was opened for reading would hold up its other users ----
VALUES(kSetLease, 1024 /* F_SETLEASE */, 1040 /* F_SETDELEG: of folders, 6.19 */);
TESTS(kLease, {1, ~0u, kSetLease});
// Signals by a descriptor (calls/async.cc). Which one: SIGIO, and none that stops or kills, for an
// owner of the outside may have been there before.
VALUES(kSetFlags, F_SETFL);
VALUES(kAsyncFlag, O_ASYNC);
VALUES(kSetSignal, 10 /* F_SETSIG */);
VALUES(kHarmlessSignals, 0, SIGIO);
TESTS(kAsync, {1, ~0u, kSetFlags}, {2, O_ASYNC, kAsyncFlag});
TESTS(kSignalIo, {1, ~0u, kSetSignal}, {2, ~0u, kHarmlessSignals});
TESTS(kSignalOther, {1, ~0u, kSetSignal});
constexpr CallCase kFcntl[] = {{kLease, refuse(EACCES)},
                               {kAsync, kNotify},
                               {kSignalIo, kAllow},
                               {kSignalOther, refuse(EINVAL)}};

// ---- prctl(option): an allow list; unknown options get EINVAL, as from an older kernel ----
// PR_SET_DUMPABLE 0 pretends success: core dumps are off and ptrace is refused already, and the
// supervisor must be able to read its callers. Missing on purpose: PR_SET_MM, PR_SET_PTRACER,
// PR_SCHED_CORE (reaches other processes), PR_FUTEX_HASH (up to 2 GB of the kernel's memory for
// each process, which is seen in none of its numbers).
VALUES(kZero, 0);
VALUES(kDumpable, 4);
VALUES(kHarmlessOptions, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 20, 21, 22, 23,
       24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 36, 37, 38, 39, 40, 41, 42, 47, 52, 53, 54, 59,
       65, 66, 68, 71, 72, 73, 74, 77, 0x53564d41 /* PR_SET_VMA */, 0x41555856 /* PR_GET_AUXV */);
TESTS(kNotDumpable, {0, ~0u, kDumpable}, {1, ~0u, kZero});
TESTS(kHarmlessOption, {0, ~0u, kHarmlessOptions});
// Large pages stay off where memory is limited (init/program.cc); pretended, since who asks for
// them does without.
VALUES(kLargePages, 41 /* PR_SET_THP_DISABLE */);
TESTS(kSetLargePages, {0, ~0u, kLargePages});
constexpr CallAction kNoLargePages{Type::kErrnoIfMemoryCounts, 0};
// Filters of a program's own take the kernel's memory, and the machine's for compiled programs.
VALUES(kSetSeccomp, 22);
VALUES(kFilterMode, 2);
TESTS(kSetFilter, {0, ~0u, kSetSeccomp}, {1, ~0u, kFilterMode});
VALUES(kSetMm, 35);
TESTS(kSetMmTest, {0, ~0u, kSetMm});
constexpr CallCase kPrctl[] = {{kNotDumpable, refuse(0)},
                               {kSetFilter, kNotify},
                               {kSetLargePages, kNoLargePages},
                               {kHarmlessOption, kAllow},
                               {kSetMmTest, refuse(EPERM)}};

// ---- seccomp(operation): likewise ----
VALUES(kSetModeFilter, 1);
TESTS(kAnotherFilter, {0, ~0u, kSetModeFilter});
constexpr CallCase kSeccomp[] = {{kAnotherFilter, kNotify}};

// ---- personality: the query, and those that only name or place things ----
VALUES(kPersonalities, 0xffffffff, 0, 8 /* PER_LINUX32 */, 0x0020000 /* UNAME26 */,
       0x0040000 /* ADDR_NO_RANDOMIZE */);
TESTS(kHarmlessPersonality, {0, ~0u, kPersonalities});
constexpr CallCase kPersonality[] = {{kHarmlessPersonality, kAllow}};

// ---- setpgid(pid, group), setpriority(which, who), ioprio_set: of init's group ----
// Whoever joined it would mean init by "my own group".
TESTS(kJoinInit, {1, ~0u, kOne});
constexpr CallCase kSetpgid[] = {{kJoinInit, refuse(EPERM)}};
constexpr CallCase kSetpriority[] = {{kPriorityOfInit, refuse(EPERM)},
                                     {kPriorityOfGroup, refuse(EPERM)},
                                     {kPriorityOfUser, refuse(EPERM)}};
VALUES(kTwo, 2);
VALUES(kIoUser, 3 /* IOPRIO_WHO_USER */);
TESTS(kIoOfInit, {0, ~0u, kOne /* IOPRIO_WHO_PROCESS */}, {1, ~0u, kOne});
TESTS(kIoGroupOfInit, {0, ~0u, kTwo /* IOPRIO_WHO_PGRP */}, {1, ~0u, kOne});
TESTS(kIoOfUser, {0, ~0u, kIoUser});
constexpr CallCase kIoprio[] = {
    {kIoOfInit, refuse(EPERM)}, {kIoGroupOfInit, refuse(EPERM)}, {kIoOfUser, refuse(EPERM)}};

// ---- futex(word, operation) on memory that is shared ----
// A file that may only be read is enough to move those who wait in it outside to a word that nobody
// wakes. Waking them would be no harm: who waits looks again. libc moves waiters within a process.
// Who waits to be moved (11) makes futex_wake fail for all that wait behind.
VALUES(kMoveWaiters, 3 /* FUTEX_REQUEUE */, 4 /* FUTEX_CMP_REQUEUE */,
       11 /* FUTEX_WAIT_REQUEUE_PI */, 12 /* FUTEX_CMP_REQUEUE_PI */);
TESTS(kMoveShared, {1, 0xff /* the command, and FUTEX_PRIVATE_FLAG */, kMoveWaiters});
constexpr CallCase kFutex[] = {{kMoveShared, refuse(ENOSYS)}};

#define ALLOW(call)                \
  {                                \
    __NR_##call, #call, kAllow, {} \
  }
#define NOTIFY(call)                \
  {                                 \
    __NR_##call, #call, kNotify, {} \
  }
#define REFUSE(call, e)               \
  {                                   \
    __NR_##call, #call, refuse(e), {} \
  }
#define ATTEMPT(call, e)               \
  {                                    \
    __NR_##call, #call, attempt(e), {} \
  }
#define CASES(call, cases, otherwise) \
  { __NR_##call, #call, otherwise, cases }

// clang-format off
constexpr CallRule kRules[] = {
    ALLOW(read), ALLOW(write), NOTIFY(open), ALLOW(close), ALLOW(stat), ALLOW(fstat), ALLOW(lstat),
    CASES(poll, kPoll, kLongWait), ALLOW(lseek), CASES(mmap, kMmap, kAllow), ALLOW(mprotect), ALLOW(munmap), ALLOW(brk),
    ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), CASES(ioctl, kIoctl, refuse(ENOTTY)),
    ALLOW(pread64), ALLOW(pwrite64), ALLOW(readv), ALLOW(writev), CASES(access, kAccess, kAllow), ALLOW(pipe),
    CASES(select, kSelect, kLongWait), ALLOW(sched_yield), ALLOW(mremap), ALLOW(msync), ALLOW(mincore), ALLOW(madvise),
    // System V memory, semaphores and queues: the compartment has an IPC namespace of its own.
    CASES(shmget, kShmget, kAllow), ALLOW(shmat), ALLOW(shmctl), ALLOW(dup), ALLOW(dup2), ALLOW(pause),
    ALLOW(nanosleep), ALLOW(getitimer), ALLOW(alarm), ALLOW(setitimer), ALLOW(getpid),
    {__NR_sendfile, "sendfile", kFilesPages, {}}, CASES(socket, kSocket, attempt(EAFNOSUPPORT)), NOTIFY(connect), ALLOW(accept),
    CASES(sendto, kSendto, kAllow), ALLOW(recvfrom), CASES(sendmsg, kSendmsg, kAllow),
    ALLOW(recvmsg), ALLOW(shutdown), NOTIFY(bind),
    NOTIFY(listen),  // shutdown can make a socket from outside listenable
    NOTIFY(getsockname), ALLOW(getpeername), CASES(socketpair, kSocketpair, refuse(EAFNOSUPPORT)),
    CASES(setsockopt, kSetsockopt, kAllow), CASES(getsockopt, kGetsockopt, kAllow), CASES(clone, kClone, attempt(EPERM)),
    {__NR_fork, "fork", kCount, {}}, {__NR_vfork, "vfork", kCount, {}},
    NOTIFY(execve), ALLOW(exit), ALLOW(wait4),
    ALLOW(kill),  // nobody outside has a number here, or is in a process group of the program's
    ALLOW(uname), ALLOW(semget), ALLOW(semop), ALLOW(semctl), ALLOW(shmdt), ALLOW(msgget),
    ALLOW(msgsnd), ALLOW(msgrcv), ALLOW(msgctl), CASES(fcntl, kFcntl, kAllow), ALLOW(flock),
    ALLOW(fsync), ALLOW(fdatasync), NOTIFY(truncate), ALLOW(ftruncate), ALLOW(getdents),
    ALLOW(getcwd), ALLOW(chdir), ALLOW(fchdir), NOTIFY(rename), NOTIFY(mkdir), NOTIFY(rmdir),
    NOTIFY(creat), NOTIFY(link), NOTIFY(unlink), NOTIFY(symlink), NOTIFY(readlink), NOTIFY(chmod),
    NOTIFY(fchmod), NOTIFY(chown), NOTIFY(fchown), NOTIFY(lchown), ALLOW(umask),
    ALLOW(gettimeofday), ALLOW(getrlimit), ALLOW(getrusage), ALLOW(sysinfo), ALLOW(times),
    ATTEMPT(ptrace, EPERM), ALLOW(getuid), ATTEMPT(syslog, EPERM), ALLOW(getgid), NOTIFY(setuid),
    NOTIFY(setgid), ALLOW(geteuid), ALLOW(getegid), CASES(setpgid, kSetpgid, kAllow), ALLOW(getppid), ALLOW(getpgrp),
    ALLOW(setsid), NOTIFY(setreuid), NOTIFY(setregid), ALLOW(getgroups), NOTIFY(setgroups),
    NOTIFY(setresuid), ALLOW(getresuid), NOTIFY(setresgid), ALLOW(getresgid), ALLOW(getpgid),
    NOTIFY(setfsuid), NOTIFY(setfsgid), ALLOW(getsid), ALLOW(capget), NOTIFY(capset),
    ALLOW(rt_sigpending), ALLOW(rt_sigtimedwait), ALLOW(rt_sigqueueinfo), ALLOW(rt_sigsuspend),
    ALLOW(sigaltstack), NOTIFY(utime), NOTIFY(mknod), REFUSE(uselib, ENOSYS),
    CASES(personality, kPersonality, refuse(EPERM)), ALLOW(ustat), ALLOW(statfs), ALLOW(fstatfs),
    REFUSE(sysfs, ENOSYS), ALLOW(getpriority), CASES(setpriority, kSetpriority, kAllow),
    CASES(sched_setparam, kScheduled, kAllow), ALLOW(sched_getparam), CASES(sched_setscheduler, kScheduled, kAllow),
    ALLOW(sched_getscheduler), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min),
    ALLOW(sched_rr_get_interval), ALLOW(mlock), ALLOW(munlock), ALLOW(mlockall), ALLOW(munlockall),
    ATTEMPT(vhangup, EPERM), REFUSE(modify_ldt, ENOSYS), ATTEMPT(pivot_root, EPERM),
    REFUSE(_sysctl, ENOSYS), CASES(prctl, kPrctl, refuse(EINVAL)), ALLOW(arch_prctl),
    ALLOW(adjtimex),  // reading; setting needs a capability that nobody here has
    CASES(setrlimit, kSetrlimit, kAllow), ATTEMPT(chroot, EPERM), ALLOW(sync), ATTEMPT(acct, EPERM),
    ATTEMPT(settimeofday, EPERM), ATTEMPT(mount, EPERM), ATTEMPT(umount2, EPERM),
    ATTEMPT(swapon, EPERM), ATTEMPT(swapoff, EPERM), ATTEMPT(reboot, EPERM),
    ATTEMPT(sethostname, EPERM), ATTEMPT(setdomainname, EPERM), ATTEMPT(iopl, EPERM),
    ATTEMPT(ioperm, EPERM), REFUSE(create_module, ENOSYS), ATTEMPT(init_module, EPERM),
    ATTEMPT(delete_module, EPERM), REFUSE(get_kernel_syms, ENOSYS), REFUSE(query_module, ENOSYS),
    ATTEMPT(quotactl, EPERM), REFUSE(nfsservctl, ENOSYS), REFUSE(getpmsg, ENOSYS),
    REFUSE(putpmsg, ENOSYS), REFUSE(afs_syscall, ENOSYS), REFUSE(tuxcall, ENOSYS),
    REFUSE(security, ENOSYS), ALLOW(gettid), ALLOW(readahead), NOTIFY(setxattr), NOTIFY(lsetxattr),
    NOTIFY(fsetxattr), CASES(getxattr, kGetxattr, kAllow), CASES(lgetxattr, kGetxattr, kAllow),
    CASES(fgetxattr, kGetxattr, kAllow), ALLOW(listxattr), ALLOW(llistxattr), ALLOW(flistxattr),
    NOTIFY(removexattr), NOTIFY(lremovexattr), NOTIFY(fremovexattr), ALLOW(tkill), ALLOW(time),
    CASES(futex, kFutex, kAllow),
    {__NR_sched_setaffinity, "sched_setaffinity", {Type::kErrnoIfCpusFixed, EPERM}, kScheduled},
    ALLOW(sched_getaffinity), REFUSE(set_thread_area, ENOSYS),
    // The machine has a fixed number of requests for all (fs.aio-max-nr), and one program can take them.
    ATTEMPT(io_setup, ENOSYS), REFUSE(io_destroy, ENOSYS), REFUSE(io_getevents, ENOSYS),
    REFUSE(io_submit, ENOSYS), REFUSE(io_cancel, ENOSYS), REFUSE(get_thread_area, ENOSYS),
    REFUSE(lookup_dcookie, EPERM), ALLOW(epoll_create), REFUSE(epoll_ctl_old, ENOSYS),
    REFUSE(epoll_wait_old, ENOSYS), ALLOW(remap_file_pages), ALLOW(getdents64),
    ALLOW(set_tid_address), ALLOW(restart_syscall), ALLOW(semtimedop), ALLOW(fadvise64),
    ALLOW(timer_create), ALLOW(timer_settime), ALLOW(timer_gettime), ALLOW(timer_getoverrun),
    ALLOW(timer_delete), ATTEMPT(clock_settime, EPERM), ALLOW(clock_gettime), ALLOW(clock_getres),
    ALLOW(clock_nanosleep), ALLOW(exit_group), ALLOW(epoll_wait), ALLOW(epoll_ctl), ALLOW(tgkill),
    NOTIFY(utimes), REFUSE(vserver, ENOSYS), {__NR_mbind, "mbind", kPlaced, {}},
    ALLOW(set_mempolicy), ALLOW(get_mempolicy),
    // POSIX queues live in the IPC namespace too; that they may be opened is a rule of Landlock's
    // (landlock_restrict).
    ALLOW(mq_open), ALLOW(mq_unlink), ALLOW(mq_timedsend), ALLOW(mq_timedreceive),
    ALLOW(mq_notify), ALLOW(mq_getsetattr), ATTEMPT(kexec_load, EPERM), ALLOW(waitid),
    ATTEMPT(add_key, ENOSYS), ATTEMPT(request_key, ENOSYS), ATTEMPT(keyctl, ENOSYS),
    CASES(ioprio_set, kIoprio, kAllow), ALLOW(ioprio_get), ALLOW(inotify_init),
    NOTIFY(inotify_add_watch), ALLOW(inotify_rm_watch), REFUSE(migrate_pages, EPERM),
    NOTIFY(openat), NOTIFY(mkdirat), NOTIFY(mknodat), NOTIFY(fchownat), NOTIFY(futimesat),
    ALLOW(newfstatat), NOTIFY(unlinkat), NOTIFY(renameat), NOTIFY(linkat), NOTIFY(symlinkat),
    NOTIFY(readlinkat), NOTIFY(fchmodat), CASES(faccessat, kAccessAt, kAllow), CASES(pselect6, kSelect, kLongWait),
    CASES(ppoll, kPoll, kLongWait),
    CASES(unshare, kUnshare, attempt(EPERM)), ALLOW(set_robust_list), ALLOW(get_robust_list),
    {__NR_splice, "splice", kFilesPages, {}}, ALLOW(tee), ALLOW(sync_file_range),
    {__NR_vmsplice, "vmsplice", kOwnPages, {}},
    REFUSE(move_pages, EPERM),
    NOTIFY(utimensat),  // a null path means the descriptor's file
    ALLOW(epoll_pwait), ALLOW(signalfd), ALLOW(timerfd_create), ALLOW(eventfd),
    {__NR_fallocate, "fallocate", {Type::kErrnoIfWritesCount, EOPNOTSUPP}, {}},
    ALLOW(timerfd_settime), ALLOW(timerfd_gettime), ALLOW(accept4), ALLOW(signalfd4),
    ALLOW(eventfd2), ALLOW(epoll_create1), ALLOW(dup3), ALLOW(pipe2), ALLOW(inotify_init1),
    ALLOW(preadv), ALLOW(pwritev), ALLOW(rt_tgsigqueueinfo), ATTEMPT(perf_event_open, EPERM),
    ALLOW(recvmmsg), ATTEMPT(fanotify_init, EPERM), ATTEMPT(fanotify_mark, EPERM),
    CASES(prlimit64, kPrlimit, kAllow), ATTEMPT(name_to_handle_at, EOPNOTSUPP), ATTEMPT(open_by_handle_at, EPERM),
    ALLOW(clock_adjtime), ALLOW(syncfs), CASES(sendmmsg, kSendmmsg, kAllow), ATTEMPT(setns, EPERM),
    ALLOW(getcpu), ATTEMPT(process_vm_readv, EPERM), ATTEMPT(process_vm_writev, EPERM),
    REFUSE(kcmp, EPERM), ATTEMPT(finit_module, EPERM), CASES(sched_setattr, kScheduled, kAllow), ALLOW(sched_getattr),
    NOTIFY(renameat2),
    CASES(seccomp, kSeccomp, kAllow),  // further filters only restrict; a second listener gets EBUSY
    ALLOW(getrandom), CASES(memfd_create, kMemfd, kAllow), ATTEMPT(kexec_file_load, EPERM), ATTEMPT(bpf, EPERM),
    NOTIFY(execveat), ATTEMPT(userfaultfd, EPERM), ALLOW(membarrier), ALLOW(mlock2),
    ALLOW(copy_file_range), ALLOW(preadv2), ALLOW(pwritev2), ALLOW(pkey_mprotect),
    ALLOW(pkey_alloc), ALLOW(pkey_free), ALLOW(statx), REFUSE(io_pgetevents, ENOSYS), ALLOW(rseq),
    ALLOW(pidfd_send_signal), ATTEMPT(io_uring_setup, ENOSYS), ATTEMPT(io_uring_enter, ENOSYS),
    ATTEMPT(io_uring_register, ENOSYS), ATTEMPT(open_tree, EPERM), ATTEMPT(move_mount, EPERM),
    ATTEMPT(fsopen, EPERM), ATTEMPT(fsconfig, EPERM), ATTEMPT(fsmount, EPERM),
    ATTEMPT(fspick, EPERM), ALLOW(pidfd_open), REFUSE(clone3, ENOSYS),
    CASES(close_range, kCloseRange, kAllow),
    NOTIFY(openat2), ATTEMPT(pidfd_getfd, EPERM), CASES(faccessat2, kAccessAt, kAllow), REFUSE(process_madvise, EPERM),
    ALLOW(epoll_pwait2), ATTEMPT(mount_setattr, EPERM), ATTEMPT(quotactl_fd, EPERM),
    // A program's own rules would not bind what the supervisor opens for it: it must know that it has none.
    REFUSE(landlock_create_ruleset, EOPNOTSUPP), REFUSE(landlock_add_rule, EOPNOTSUPP),
    REFUSE(landlock_restrict_self, EOPNOTSUPP),
    REFUSE(memfd_secret, ENOSYS),  // the supervisor could not read arguments placed in it
    REFUSE(process_mrelease, EPERM), ALLOW(futex_waitv),
    {__NR_set_mempolicy_home_node, "set_mempolicy_home_node", kPlaced, {}},
    ALLOW(cachestat), NOTIFY(fchmodat2), ALLOW(map_shadow_stack), ALLOW(futex_wake),
    ALLOW(futex_wait), REFUSE(futex_requeue, ENOSYS),  // whose words are shared is in memory
    REFUSE(statmount, ENOSYS), REFUSE(listmount, ENOSYS),  // the mounts of the machine
    REFUSE(lsm_get_self_attr, ENOSYS), REFUSE(lsm_set_self_attr, ENOSYS),
    REFUSE(lsm_list_modules, ENOSYS), ALLOW(mseal), NOTIFY(setxattrat), NOTIFY(getxattrat),
    ALLOW(listxattrat), NOTIFY(removexattrat), ATTEMPT(open_tree_attr, EPERM), ALLOW(file_getattr),
    ATTEMPT(file_setattr, EOPNOTSUPP),
};
// clang-format on

constexpr bool sorted() {
  for (size_t i = 1; i < std::size(kRules); ++i) {
    if (kRules[i - 1].number >= kRules[i].number) return false;
  }
  return true;
}
static_assert(sorted(), "call_rules() are searched and merged in order of their numbers");

}  // namespace

std::span<const CallRule> call_rules() { return kRules; }

}  // namespace bulkhead
