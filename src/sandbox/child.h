// Child: the two processes that bulkhead runs inside a compartment before the program: init (pid 1
// there) and the process that becomes the program.
//
// Both come from clone() without exec, out of a process that may have threads: until execve or
// _exit they make async-signal-safe calls only, and read what the parent prepared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/landlock.h"
#include "sandbox/mounts.h"
#include "sandbox/plan.h"

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

// What init tells the supervisor during setup, apart from ProgramEvent: records on the control
// socket, told apart by their size.
struct SetupMessage {
  enum class What : uint32_t {
    kReady,     // the id maps can be written now; answered by one byte
    kInside,    // with descriptors: root, /proc, the sockets named in `sockets`, and the lists of
                // System V objects named in `system_v`
    kListener,  // with one descriptor, from the program: its pid is in the credentials
    kSettled,   // init has let go of what it does not need any more
  } what = What::kReady;
  // Bits, the name servers' first: 1 UDP/IPv4, 2 UDP/IPv6, 4 TCP/IPv4, 8 TCP/IPv6, 16 socket_diag.
  uint32_t sockets = 0;
  uint32_t system_v = 0;  // bits, by SystemV
  uint64_t user_namespace = 0;
};

// Runs in the process that clone() made. All signals are blocked.
[[noreturn]] void run_init(const ChildSetup& setup) noexcept;

}  // namespace bulkhead
