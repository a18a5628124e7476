// What handlers share: arguments, set-id bits, the paths of descriptors.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/path.h"
#include "sandbox/calls/call.h"
#include "sandbox/walker.h"

namespace bulkhead {

// Magic link to a descriptor of ours: reopens, chmods … exactly what the descriptor is.
struct OwnLink {
  char text[32];
  explicit OwnLink(int fd);
};

// The umask of the caller, for this thread. 0, or ESRCH when it is gone.
int adopt_umask(const Call& call);

// Files outlive the run, so a compartment leaves no set-user-ID or set-group-ID program behind.
// Set-group-ID on a folder, or without execute permission for the group, is no privilege.
inline bool makes_privileged(mode_t mode) {
  return (mode & S_ISUID) != 0 || ((mode & S_ISGID) != 0 && (mode & S_IXGRP) != 0);
}
// EPERM for such a mode (journalled), nullopt otherwise and in audit runs.
std::optional<Reply> refuse_privileged(Call& call, mode_t mode, const std::string& what);

// Reads and spells the path at `address`, relative to `folder`. 0 or errno.
int spell_argument(const Call& call, int folder, uint64_t address, Spelling* spelling);

// True where the kernel would by itself grant `kind` on that path, and so may be told to go on.
inline bool kernel_may(const Call& call, Kind kind, std::string_view path) {
  return kernel_decides(call.service().plan, kind, path) && call.would_allow(kind, path);
}

}  // namespace bulkhead
