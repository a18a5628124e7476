// Capabilities (capabilities(7)) of the compartment's processes, all within its own user namespace.
//
// A program of an ordinary user has none. A program of root keeps those that only concern
// files and its own identity and processes, because root's programs expect them (tar, cp -a,
// apt); the rest, mounting and networking above all, are gone from its bounding set, so execve
// cannot bring them back.
//
// What this does not stop: what DAC_OVERRIDE reaches. Root's compartment is held by Landlock and
// the supervisor, not by file modes.
#pragma once

#include <cstdint>

namespace bulkhead {

inline constexpr uint64_t capability(unsigned number) { return uint64_t{1} << number; }

// CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, KILL, SETGID, SETUID.
inline constexpr uint64_t kRootKeeps = capability(0) | capability(1) | capability(2) |
                                       capability(3) | capability(4) | capability(5) |
                                       capability(6) | capability(7);

// Those of them by which file modes and owners do not hold: all but KILL, SETGID, SETUID.
inline constexpr uint64_t kFileCapabilities =
    kRootKeeps & ~(capability(5) | capability(6) | capability(7));

// Allocates nothing: bounding, permitted and effective set become `keep`, the
// inheritable and the ambient set become empty. Returns 0 or an errno.
int keep_capabilities(uint64_t keep) noexcept;

// The effective set of the calling thread. Setting it returns 0 or an errno.
uint64_t effective_capabilities() noexcept;
int set_effective_capabilities(uint64_t effective) noexcept;

}  // namespace bulkhead
