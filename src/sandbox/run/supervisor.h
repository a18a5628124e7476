// Supervisor: owns one compartment, serves its system calls, keeps its limits, ends with it.
//
// Threads: the caller's (signals, limits, the program's end), one that serves notifications,
// the resolver's, and up to 64 short-lived ones for calls that may block. All of them end
// before run() returns.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "policy/judge.h"
#include "sandbox/calls/rename_lock.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

struct SupervisorOptions {
  std::string dns_server;  // "ADDRESS:PORT"; empty: those of /etc/resolv.conf
  int end_fd = -1;         // ends the compartment (Ended) once it is readable
  // Called before the program runs, with the compartment's /proc (O_PATH), which lives until
  // supervise() returns, and the program's number outside.
  std::function<void(int proc, pid_t program)> started = {};
  // Called when the program has stopped, with the signal that did it. The supervisor goes on, and
  // the program does when somebody continues it.
  std::function<void(int signal)> stopped = {};
  // Shared with who acts for the compartment outside; null: nobody does. Outlives supervise().
  RenameLock* renames = nullptr;
  // Kept at what is in a private home, in bytes; null: nobody wants to know. Outlives supervise().
  std::atomic<uint64_t>* home_bytes = nullptr;
};

struct RunReport {
  Outcome outcome;
  uint64_t notifications = 0;
  uint64_t peak_memory = 0;  // bytes, 0 where not measured
};

// Blocks until the compartment has ended. The judge outlives it. Signals that the calling process
// gets meanwhile (INT, TERM, HUP, QUIT, USR1, USR2, WINCH, CONT, TSTP) reach the program.
Result<RunReport> supervise(const Plan& plan, Judge& judge, const SupervisorOptions& options);

}  // namespace bulkhead
