// Landlock (landlock(7)): the kernel's own "no", behind everything that the supervisor says.
//
// What it does not stop: stat, access, chdir, chmod, chown, utimensat, setxattr, inotify,
// readlink, pathname unix sockets (all served by the supervisor), and anything done with a
// descriptor that was handed in. TCP is not handled here: the network namespace is empty, and
// servers inside must work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead {

struct LandlockSupport {
  int abi = 0;          // 0: not in this kernel, or off
  uint64_t rights = 0;  // every file system right that it knows
  bool scopes = false;  // signals and abstract unix sockets
};
LandlockSupport landlock_support();  // this kernel's
// What Landlock of this ABI can do; nothing below 1.
LandlockSupport landlock_of_abi(long abi) noexcept;

// The oldest that is enough: it judges links and renames between folders. What later ones add is
// held without them as well, by one layer and not by two:
// - ABI 3, truncating: truncate(2) is served, and so is each open that truncates without writing.
// - ABI 4, TCP: not handled in any case.
// - ABI 5, commands of devices: the filter names each of them.
// - ABI 6, signals and abstract unix sockets: nobody outside has a number in the pid namespace or a
//   place in the network namespace, and the program's process group holds nobody from outside.
inline constexpr int kOldestLandlock = 2;

// What E2BIG of landlock_restrict says.
inline constexpr std::string_view kLandlockLayersSpent =
    "the kernel allows 16 layers of Landlock, and this process already has them";

// Rights of one policy word. Making devices is never among them.
inline constexpr uint64_t kLandlockRead = (1u << 2) | (1u << 3);  // READ_FILE, READ_DIR
inline constexpr uint64_t kLandlockExecute = 1u << 0;
// WRITE_FILE, REMOVE_*, MAKE_{DIR,REG,SOCK,FIFO,SYM}, REFER, TRUNCATE
inline constexpr uint64_t kLandlockWrite = (1u << 1) | (1u << 4) | (1u << 5) | (1u << 7) |
                                           (1u << 8) | (1u << 9) | (1u << 10) | (1u << 12) |
                                           (1u << 13) | (1u << 14);
inline constexpr uint64_t kLandlockIoctl = 1u << 15;
// Those that a rule on anything but a folder may carry; the kernel refuses others (EINVAL).
inline constexpr uint64_t kLandlockFileRights =
    kLandlockExecute | (1u << 1) | (1u << 2) | (1u << 14) | kLandlockIoctl;

struct LandlockRule {
  std::string path;
  uint64_t access = 0;
};

// The same without a heap, for whoever has none.
struct LandlockPlace {
  const char* path = "";
  uint64_t access = 0;
};

// Allocates nothing: denies every right in support.rights outside the rules'
// trees, for this process and all that come from it. Paths that are missing, or that hold a
// symlink by now, are left out: less is granted then, never something else. Needs no_new_privs.
// `queues`: the folder of POSIX queues whose files may be opened as well; -1: none.
// Returns 0 or an errno.
int landlock_restrict(const LandlockSupport& support, std::span<const LandlockPlace> rules,
                      int queues) noexcept;

}  // namespace bulkhead
