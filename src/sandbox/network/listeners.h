// Listeners: whether a server inside the compartment listens on a loopback port. It comes before
// the machine's own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace bulkhead {

// `text`: lines of /proc/net/tcp or tcp6, with or without the header. True where one of them
// listens on `port` at a loopback address or at all addresses. Which loopback address does not
// matter: a server on 127.0.0.1 is meant by a client that tries ::1 first, and the answer to that
// try is the kernel's refusal, not a question to a person. `others`: set where a row before it is
// no listener's.
bool has_listener(std::string_view text, uint16_t port, bool* others = nullptr) noexcept;

// Reads the tables of the network namespace of `process`.
bool listens_inside(pid_t process, uint16_t port);

}  // namespace bulkhead
