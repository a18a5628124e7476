#include "policy/user_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/path.h"

namespace bulkhead {

Result<Fd> lock_beside(const std::string& file) {
  BULKHEAD_CHECK(make_directories(std::string(parent_of(file)), 0700));
  const std::string lock_file = file + ".lock";
  Fd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return errno_error("open " + lock_file);
  while (::flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR) return errno_error("lock " + lock_file);
  return lock;
}

std::string timestamp_now() {
  const std::time_t time = std::time(nullptr);
  struct tm parts {};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> buffer{};
  const size_t size = std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(buffer.data(), size);
}

}  // namespace bulkhead
