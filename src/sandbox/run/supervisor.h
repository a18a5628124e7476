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
#include "sandbox/caller/walker.h"
#include "sandbox/calls/rename_lock.h"
#include "sandbox/home/home_size.h"
#include "sandbox/kernel/processes.h"
#include "sandbox/launch/prepared.h"
#include "sandbox/limits/limits.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/network/name_cache.h"
#include "sandbox/plan/plan.h"
#include "sandbox/run/requests.h"

namespace bulkhead {

struct SupervisorOptions {
  // Signals that this process gets meanwhile (INT, TERM, HUP, QUIT, USR1, USR2, WINCH, CONT, TSTP)
  // reach the program: for a process that is there for it alone.
  bool pass_signals = true;
  std::string dns_server;  // "ADDRESS:PORT"; empty: those of /etc/resolv.conf
  int end_fd = -1;         // ends the compartment (Ended) once it is readable
  // Called before the program runs, with the compartment's /proc (O_PATH), which lives until
  // supervise() returns, and the program's number outside.
  std::function<void(int proc, pid_t program)> started = {};
  // Called when the program has stopped, with the signal that did it. The supervisor goes on, and
  // the program does when somebody continues it.
  std::function<void(int signal)> stopped = {};
  // Called once, when the program has run and nothing waits.
  std::function<void()> settled = {};
  // What other threads want meanwhile; null: nothing. Outlives supervise().
  Requests* requests = nullptr;
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

// One compartment. For one thread, and give() for any one until run() is called; the thread that
// prepares it outlives it (see launch()), and so do plan and judge.
class Supervisor {
 public:
  // Returns when the program waits to begin: launched, confined and limited.
  static Result<std::unique_ptr<Supervisor>> prepare(const Plan& plan, Judge& judge,
                                                     SupervisorOptions options);
  ~Supervisor();  // ends it
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  pid_t program() const { return prepared_.compartment.program; }
  // A descriptor of those that the plan has as given later (prepared.h).
  Status give(int number, int fd);
  bool waits() const { return prepared_.listener->still_valid(prepared_.execve); }
  // Lets the program begin, and blocks until the compartment has ended. Once.
  Result<RunReport> run();

 private:
  Supervisor(const Plan& plan, Judge& judge, SupervisorOptions options);
  Status launch();
  Status limit();

  const Plan& plan_;
  Judge& judge_;
  const SupervisorOptions options_;
  std::unique_ptr<LimitKeeper> limits_;
  Fd places_;  // until all that is mounted there has gone
  NameCache names_;
  Prepared prepared_;
  std::optional<Processes> processes_;
  std::optional<Walker> walker_;
  RenameLock own_renames_;
  std::optional<HomeSize> home_size_;
};

// Both, of one compartment: blocks until it has ended.
Result<RunReport> supervise(const Plan& plan, Judge& judge, const SupervisorOptions& options);

}  // namespace bulkhead
