// Report: what a compartment's first processes tell the supervisor, in fixed-size records on
// Compartment::status (SOCK_SEQPACKET), told apart by their size.
#pragma once

#include <cstdint>

namespace bulkhead {

// While the compartment is set up.
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

// How the program fares, from the moment at which it is about to run.
struct ProgramEvent {
  enum class Kind : int32_t {
    kExecFailed,
    kStopped,
    kExited,
    kSignaled,
    kCoreDumped,
    kSetupFailed
  } kind;
  int32_t value = 0;   // errno, signal or exit code
  char step[56] = {};  // kSetupFailed: which step of the setup
};

}  // namespace bulkhead
