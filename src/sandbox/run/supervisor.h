// Supervisor: owns one compartment, serves its system calls, keeps its limits, ends with it.
//
// It has turns of the loop's: one kind for the program's end, the limits and what others want (this
// class), one for notifications (Server), one for names (Resolver). While nothing happens it has no
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "policy/judge.h"
#include "sandbox/caller/walker.h"
#include "sandbox/calls/rename_lock.h"
#include "sandbox/home/home_size.h"
#include "sandbox/home/spare_folders.h"
#include "sandbox/kernel/processes.h"
#include "sandbox/launch/prepared.h"
#include "sandbox/limits/limits.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/network/name_cache.h"
#include "sandbox/network/ports.h"
#include "sandbox/network/resolver.h"
#include "sandbox/plan/plan.h"
#include "sandbox/run/requests.h"
#include "sandbox/run/server.h"
#include "sandbox/run/signals.h"
#include "sandbox/threads/loop.h"

namespace bulkhead {

struct SupervisorOptions {
  // supervise(): signals that this process gets meanwhile (INT, TERM, HUP, QUIT, USR1, USR2, WINCH,
  // CONT, TSTP) reach the program: for a process that is there for it alone.
  bool pass_signals = true;
  std::string dns_server;  // "ADDRESS:PORT"; empty: those of /etc/resolv.conf
  int end_fd = -1;         // ends the compartment (Ended) once it is readable
  // Called before the program runs, with the compartment's /proc (O_PATH), which lives until
  // the compartment has ended, and the program's number outside.
  std::function<void(int proc, pid_t program)> started = {};
  // The following are called in turns, by threads of the loop's.
  // When the program has stopped, with the signal that did it. The supervisor goes on, and the
  // program does when somebody continues it.
  std::function<void(int signal)> stopped = {};
  // What a person may want to know of a port that a program inside listens at.
  std::function<void(const PortNews&)> port_news = {};
  // Once, when the program has run and nothing waits.
  std::function<void()> settled = {};
  // At the end, when there is a report.
  std::function<void()> ended = {};
  // Shared with who acts for the compartment outside; null: nobody does. Outlives the supervisor.
  RenameLock* renames = nullptr;
  // Kept at what is in a private home, in bytes; null: nobody wants to know. Outlives it too.
  std::atomic<uint64_t>* home_bytes = nullptr;
  // Null: the thread that calls prepare(). Outlives the supervisor.
  Parent* parent = nullptr;
};

struct RunReport {
  Outcome outcome;
  uint64_t notifications = 0;
  uint64_t peak_memory = 0;  // bytes, 0 where not measured
};

// One compartment. Plan, judge and loop outlive it.
class Supervisor final : private Task {
 public:
  // Returns when the program waits to begin: launched, confined and limited.
  static Result<std::unique_ptr<Supervisor>> prepare(const Plan& plan, Judge& judge, Loop& loop,
                                                     SupervisorOptions options);
  ~Supervisor() override;  // ends it, and waits for that
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  pid_t program() const { return prepared_.compartment.program; }
  // Until begin(): a descriptor of those that the plan has as given later (prepared.h).
  Status give(int number, int fd);
  // Lets the program begin; ESRCH where it has been killed. Once. `signals`, where given, outlives
  // the supervisor and is passed on to the program.
  Status begin(const Signals* signals = nullptr);

  // From then on, and from any thread.
  void end() noexcept;  // does not wait
  // What became of it, for as long as this object lives; null: the deadline came first. No
  // deadline: waits.
  const RunReport* wait(std::optional<std::chrono::steady_clock::time_point> deadline = {});
  Requests& requests() { return requests_; }

 private:
  Supervisor(const Plan& plan, Judge& judge, Loop& loop, SupervisorOptions options);
  Status launch();
  Status limit();
  Status watch();
  Clock::time_point turn(bool briefly) override;
  std::optional<Outcome> look();
  std::optional<Outcome> read_status();
  bool is_stopped() const;
  Clock::time_point next_look();
  Clock::time_point put_off_end();
  void finish(Outcome outcome);
  void begin_to_end();
  void stop_serving();

  const Plan& plan_;
  Judge& judge_;
  Loop& loop_;
  const SupervisorOptions options_;
  const Loop::Key key_;
  Requests requests_;
  std::unique_ptr<LimitKeeper> limits_;
  Fd places_;  // until all that is mounted there has gone
  NameCache names_;
  Prepared prepared_;
  std::optional<Processes> processes_;
  std::optional<Walker> walker_;
  RenameLock own_renames_;
  std::optional<HomeSize> home_size_;
  std::optional<SpareFolders> spare_folders_;
  std::optional<Ports> ports_;
  std::unique_ptr<Service> service_;
  std::optional<Server> server_;
  std::unique_ptr<Resolver> resolver_;
  const Signals* signals_ = nullptr;
  std::atomic<bool> end_wanted_ = false;

  // Turns only:
  bool server_ended_ = false;
  std::optional<Outcome> outcome_;  // not reported yet
  bool settled_ = false;            // it has lived through a quiet moment
  Clock::time_point quiet_since_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  std::optional<RunReport> report_;
};

// One compartment alone, with a loop of its own: blocks until it has ended.
Result<RunReport> supervise(const Plan& plan, Judge& judge, const SupervisorOptions& options);

}  // namespace bulkhead
