// ProcessLimit: a limit that the kernel keeps for each process by itself (setrlimit(2)).
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <cstdint>

namespace bulkhead {

struct ProcessLimit {
  uint64_t resource = 0;  // RLIMIT_*
  uint64_t most = 0;
};

// Lowers it for this process and what comes from it, never raises it: 0 or an errno. Allocates
// nothing.
inline int keep_limit(const ProcessLimit& limit) noexcept {
  const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return errno;
  if (now.rlim_max > limit.most) now.rlim_max = limit.most;
  if (now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  return ::setrlimit(resource, &now) == 0 ? 0 : errno;
}

}  // namespace bulkhead
