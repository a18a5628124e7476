#include "sandbox/kernel/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bulkhead {

int keep_capabilities(uint64_t keep) noexcept {
  // The bounding set first: dropping from it needs CAP_SETPCAP, which goes with the next step.
  // The kernel says EINVAL for the first number that it does not know.
  for (unsigned number = 0; number < 64; ++number) {
    if ((keep & capability(number)) != 0) continue;
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0) {
      if (errno == EINVAL) break;
      return errno;
    }
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return errno;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2];
  for (unsigned half = 0; half < 2; ++half) {
    const auto bits = static_cast<uint32_t>(keep >> (32 * half));
    data[half] = {bits, bits, 0};
  }
  return ::syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

uint64_t effective_capabilities() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return 0;
  return data[0].effective | (uint64_t{data[1].effective} << 32);
}

int set_effective_capabilities(uint64_t effective) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return errno;
  data[0].effective = static_cast<uint32_t>(effective);
  data[1].effective = static_cast<uint32_t>(effective >> 32U);
  return ::syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

}  // namespace bulkhead
