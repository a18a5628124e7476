#include "sandbox/network/socket_paths.h"

#include <algorithm>

namespace bulkhead {

void SocketPaths::add(ino_t socket, std::string path) {
  const std::lock_guard lock(mutex_);
  if (paths_.size() == kMost) paths_.pop_back();
  paths_.emplace_front(socket, std::move(path));
}

std::string SocketPaths::find(ino_t socket, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(paths_.begin(), paths_.end(),
                                  [&](const auto& entry) { return entry.first == socket; });
  if (found == paths_.end() || name.empty() || !found->second.ends_with(name)) return {};
  return found->second;
}

bool SocketPaths::empty() const {
  const std::lock_guard lock(mutex_);
  return paths_.empty();
}

}  // namespace bulkhead
