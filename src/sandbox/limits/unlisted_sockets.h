// What sockets of the internet hold that the kernel lists nowhere, since they have no address any
// more: connections that their peer has reset, and UDP sockets that were disconnected.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "sandbox/limits/socket_asker.h"
#include "sandbox/limits/socket_memory.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {

class UnlistedSockets {
 public:
  // While the compartment has none yet.
  UnlistedSockets();

  // Bytes. `listed` was told by `diag` a moment ago, `held` are the processes' sockets of any kind.
  // A socket that has a descriptor is asked. Where that fails, or a socket has none since it waits
  // to be accepted, it is silent. Whichever is so twice counts as what such a one can hold at the
  // most, and all of these together as no more than what the machine's sockets hold of which nobody
  // tells, and did not at the start.
  uint64_t bytes(int diag, const InetSockets& listed, const ProcReader& proc,
                 const std::map<uint64_t, ProcReader::Holder>& held);
  // The same, after more looks at those that wait to be accepted: on a busy listener some are taken
  // for such that are not. Takes up to 40 ms, and so is for where it matters.
  uint64_t bytes_at_the_least(int diag);

 private:
  // What the buffers of the whole machine hold besides `told`.
  static uint64_t of_the_machine(uint64_t told);
  uint64_t sum() const;

  SocketAsker asker_;
  const uint64_t most_held_;
  uint64_t least_ = 0;  // of the machine's others
  // At the last look:
  std::set<uint64_t> silent_;
  uint64_t waiting_ = 0;
  uint64_t told_ = 0, made_ = 0, silent_twice_ = 0, waiting_twice_ = 0;
};

// From the text of /proc/net/sockstat: pages that TCP and UDP hold on the whole machine; all bits
// where it does not say.
uint64_t parse_inet_pages(std::string_view sockstat);

}  // namespace bulkhead
