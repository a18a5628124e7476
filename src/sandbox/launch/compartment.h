// Compartment: the process tree under one policy, from its first process to its last.
//
//   supervisor ── clone(user, mount, pid, net, ipc namespaces), execve ──► init (pid 1 inside)
//                                                                   └─ fork ─► program ─► children
//
// init is a program of ours: it mounts, brings up lo, opens the resolver's sockets, forks the
// program, reaps orphans, reports the program's stops and its end, and dies with the supervisor
// (PDEATHSIG); when it dies, the kernel kills everything in its pid namespace. The program takes
// the numbers that the plan gives it and no others, restricts itself (no_new_privs, capabilities,
// Landlock, seccomp) and executes.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/launch/parent.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/limits/usage.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

struct Compartment {
  pid_t init = -1;  // as the supervisor sees it
  Fd init_pidfd;
  pid_t program = -1;  // as the supervisor sees it
  Fd listener;         // seccomp notifications
  Fd root;             // O_PATH of "/" in the compartment's mount namespace
  Fd proc;             // O_PATH of its /proc
  Fd status;           // init's reports: launch/report.h
  // Bound to 127.0.0.1:53 and [::1]:53 inside; the second is absent without IPv6.
  Fd dns_udp[2], dns_tcp[2];
  std::array<Fd, kSystemVLists> system_v;  // see LimitTarget; only where memory is limited
  Fd socket_diag;                          // the same
  uint64_t user_namespace = 0;             // inode number: membership of a process
};

// Starts the tree; returns once the program's filter is installed and its execve is about to be
// notified. Takes the same time whatever the caller's memory and threads, any of which may call
// it at once; nothing of the process changes. `parent`, or where there is none the calling thread,
// must outlive the compartment: the kernel takes its end for the supervisor's (parent.h).
// `meanwhile` is called once the compartment's mounts stand, while its program confines itself:
// everything but `program` and `listener` is known by then. Its error ends the compartment.
using Meanwhile = std::function<Status(const Compartment&)>;
Result<Compartment> launch(const Plan& plan, const Meanwhile& meanwhile = {},
                           Parent* parent = nullptr);

// Kills the whole tree without waiting for its end.
void begin_to_kill(const Compartment& compartment) noexcept;
// Kills the whole tree (kills init, waits for it). Safe at any moment, twice too.
void kill_compartment(Compartment& compartment) noexcept;

}  // namespace bulkhead
