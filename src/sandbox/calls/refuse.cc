// Kernel interfaces that no manifest grants. The filter could answer these by itself; they come
// here so that the journal names the attempt. Each answer is the one that programs fall back on,
// and none is CONTINUE: arguments do not matter.
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

#include "sandbox/calls/call.h"

namespace bulkhead {

Reply serve_refusal(Call& call) {
  const CallRow* const row = find_call(call.number());
  if (row == nullptr) return Reply::error(ENOSYS);
  call.note_refusal(Kind::kSystem, row->name,
                    row->reason != nullptr ? row->reason : "no manifest grants this");
  // A raw socket of a known family: the kernel's word for a missing capability.
  if (call.number() == __NR_socket && (call.fd_arg(0) == AF_INET || call.fd_arg(0) == AF_INET6))
    return Reply::error(EPERM);
  return Reply::error(row->refusal != 0 ? row->refusal : EPERM);
}

}  // namespace bulkhead
