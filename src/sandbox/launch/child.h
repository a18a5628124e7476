// Child: the two processes that bulkhead runs inside a compartment before the program: init (pid 1
// there) and the process that becomes the program.
//
// Both come from clone() without exec, out of a process that may have threads: until execve or
// _exit they make async-signal-safe calls only, and read what the parent prepared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/kernel/landlock.h"
#include "sandbox/launch/mounts.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

// Made by the parent, read by the children.
struct ChildSetup {
  const Plan* plan = nullptr;
  MountSetup mounts;
  LandlockSupport landlock;
  uint64_t keep_capabilities = 0;
  std::vector<char*> argv, environment;  // null-terminated, pointing into *plan
  int control = -1;                      // our end of the socket pair; above 2
};

// Runs in the process that clone() made. All signals are blocked.
[[noreturn]] void run_init(const ChildSetup& setup) noexcept;

}  // namespace bulkhead
