#include "session/inside.h"

#include <sys/prctl.h>

#include "base/fd.h"

namespace bulkhead {

bool inside_compartment() {
  // Every program of a compartment has both, and neither goes away.
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return false;
  const auto status = read_file("/proc/self/status", 1 << 16);
  if (!status.ok() || status->find("\nSeccomp:\t2\n") == std::string::npos) return false;
  const auto first = read_file("/proc/1/comm", 64);
  return first.ok() && *first == "bulkhead-init\n";
}

}  // namespace bulkhead
