// openat2(2) without a wrapper, and the links by which /proc tells what a descriptor is.
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace bulkhead {

inline int openat2_raw(int folder, const char* path, int flags, mode_t mode, uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<uint64_t>(static_cast<unsigned>(flags));
  how.mode = mode;
  how.resolve = resolve;
  return static_cast<int>(syscall(SYS_openat2, folder, path, &how, sizeof how));
}

// The text of a link that /proc holds, or an errno: ENAMETOOLONG above a page, like the kernel's.
inline int read_proc_link(const char* link, std::string* text) {
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink(link, buffer, sizeof buffer);
  if (n < 0) return errno;
  if (n == PATH_MAX) return ENAMETOOLONG;
  text->assign(buffer, static_cast<size_t>(n));
  return 0;
}

// The canonical path of what a descriptor of ours is.
inline int read_own_link(int fd, std::string* text) {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return read_proc_link(link, text);
}

// folder + "/" + name, where the root is "/" or "".
inline std::string entry_path(std::string_view folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + name.size() + 1);
  if (folder != "/") path += folder;
  path += '/';
  path += name;
  return path;
}

}  // namespace bulkhead
