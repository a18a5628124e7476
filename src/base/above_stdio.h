// 0 to 2 may be closed in a host: what was opened there would be taken for standard input or
// output, by the host or by a program that it starts.
#pragma once

#include <fcntl.h>

#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// The same, by a number above 2.
inline Result<Fd> above_stdio(Fd fd) {
  if (fd.get() > 2) return fd;
  Fd lifted(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!lifted) return errno_error("duplicate a descriptor");
  return lifted;
}

}  // namespace bulkhead
