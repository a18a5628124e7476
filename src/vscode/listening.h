// The ports at which the programs of a compartment listen. A compartment has a network of its own,
// so a server in it is there for itself alone: a person who waits for its page is told so.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string_view>

namespace bulkhead {

// Of the text of /proc/net/tcp or tcp6. What the kernel would not write is passed over.
std::set<uint16_t> parse_listening(std::string_view text);

// Those that somebody chose: what is handed out to who names no port, as language servers do, is
// left out. `proc`: the compartment's /proc; `pid`: a process of its network, as it is called
// there. None where it cannot be told.
std::set<uint16_t> chosen_ports(int proc, pid_t pid);

}  // namespace bulkhead
