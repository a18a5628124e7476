// SocketPaths: how the paths were spelled that unix sockets were bound to. The supervisor binds the
// last name alone, in the folder that was decided on, so the kernel knows no more. Thread-safe,
// bounded: the oldest is forgotten, and the kernel's answer stands.
#pragma once

#include <sys/types.h>

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace bulkhead {

class SocketPaths {
 public:
  static constexpr size_t kMost = 1024;

  // `socket`: its inode.
  void add(ino_t socket, std::string path);
  // Empty where none is known. A number can be another socket's by now: `name`, which the kernel
  // tells, is the path's last, or it is not this one's.
  std::string find(ino_t socket, std::string_view name) const;
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::pair<ino_t, std::string>> paths_;  // the newest first
};

}  // namespace bulkhead
