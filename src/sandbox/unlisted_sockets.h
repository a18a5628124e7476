// What sockets of the internet hold that the kernel lists nowhere, since they have no address any
// more: connections that their peer has reset, and UDP sockets that were disconnected.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "sandbox/socket_memory.h"
#include "sandbox/usage.h"

namespace bulkhead {

class UnlistedSockets {
 public:
  // While the compartment has none yet.
  UnlistedSockets();

  // Bytes. `listed` was told by `diag` a moment ago, `held` are the processes' sockets of any kind.
  // A socket that has a descriptor is asked. Where that fails, or a socket has none since it waits
  // to be accepted, it counts as what such a one can hold at the most, and all of these together as
  // no more than what the machine's sockets hold of which nobody tells, and did not at the start.
  uint64_t bytes(int diag, const InetSockets& listed, const ProcReader& proc,
                 const std::map<uint64_t, ProcReader::Holder>& held);

 private:
  // What the sockets of the whole machine hold besides `told`.
  static uint64_t of_the_machine(uint64_t told);

  uint64_t least_ = 0;    // of the machine's others
  uint64_t waiting_ = 0;  // at the last look
};

// From the text of /proc/net/sockstat: pages that TCP and UDP hold on the whole machine; all bits
// where it does not say.
uint64_t parse_inet_pages(std::string_view sockstat);

}  // namespace bulkhead
