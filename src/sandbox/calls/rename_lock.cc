#include "sandbox/calls/rename_lock.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/path.h"

namespace bulkhead {

namespace {
constexpr size_t kMostUses = 65536;
constexpr std::chrono::seconds kLongestWait(1);
}  // namespace

std::unique_lock<std::mutex> RenameLock::take(bool may_wait) {
  if (may_wait) return std::unique_lock(mutex_);
  return {mutex_, std::try_to_lock};
}

bool RenameLock::in_use(std::string_view path, Change change) const {
  return std::any_of(used_.begin(), used_.end(), [&](const auto& each) {
    const auto& [used, use] = each.second;
    if (change == Change::kLinkOrFolder && is_within(used, path)) return true;
    return use == Use::kMove && (is_within(path, used) || is_within(used, path));
  });
}

bool RenameLock::wait(std::unique_lock<std::mutex>& lock) {
  return ended_.wait_for(lock, kLongestWait) == std::cv_status::no_timeout;
}

bool RenameLock::begin(uint32_t number, std::string path, Use use) {
  const std::lock_guard lock(mutex_);
  if (used_.size() >= kMostUses) return false;
  used_.emplace(number, InUse{std::move(path), use});
  return true;
}

void RenameLock::end(uint32_t number) {
  {
    const std::lock_guard lock(mutex_);
    if (used_.erase(number) == 0) return;
  }
  ended_.notify_all();
}

}  // namespace bulkhead
