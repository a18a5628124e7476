// Upstreams: the name servers that the supervisor asks.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bulkhead {

struct Upstream {
  sockaddr_storage address{};
  socklen_t size = 0;
};

inline constexpr size_t kMaxUpstreams = 3;  // as resolv.conf(5)

// "192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:5353".
Result<Upstream> parse_upstream(std::string_view text);

// The "nameserver" lines of a resolv.conf(5) text; a line that does not parse is left out. Without
// any: 127.0.0.1, as resolv.conf(5) says.
std::vector<Upstream> parse_resolv_conf(std::string_view text);

}  // namespace bulkhead
