#include "sandbox/run/supervisor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/kernel/process_stat.h"
#include "sandbox/launch/report.h"
#include "sandbox/network/resolver.h"
#include "sandbox/run/server.h"
#include "sandbox/run/signals.h"

namespace bulkhead {

namespace {

constexpr int kQuiet = 1000;  // milliseconds between looks when nothing waits
constexpr int kTick = 100;

constexpr const char* kHosts = "/etc/hosts";

// The program as the program's user would name it.
CannotRun cannot_run(const Plan& plan, int errno_value) {
  return {errno_value, fmt::format("{}: {}", plan.program, std::strerror(errno_value))};
}

// The outcome that this report of init means; nullopt: the program lives.
std::optional<Outcome> outcome_of(const ProgramEvent& event, const Plan& plan) {
  using Kind = ProgramEvent::Kind;
  switch (event.kind) {
    case Kind::kExited:
      return Exited{event.value};
    case Kind::kSignaled:
      return Signaled{event.value, false};
    case Kind::kCoreDumped:
      return Signaled{event.value, true};
    case Kind::kExecFailed:
      return cannot_run(plan, event.value);
    case Kind::kSetupFailed:
      return SupervisorFailed{
          fmt::format("setting up the compartment failed at {}: {}",
                      std::string(event.step, strnlen(event.step, sizeof event.step)),
                      std::strerror(event.value))};
    case Kind::kStopped:
      break;
  }
  return std::nullopt;
}

// The file descriptor of a folder that is the compartment's alone; -1 otherwise.
Fd private_folder(const Compartment& compartment, const char* path, bool is_private) {
  return is_private ? Fd(::openat(compartment.root.get(), path, O_PATH | O_DIRECTORY | O_CLOEXEC))
                    : Fd();
}

// Watches one compartment until its outcome is known. The first final outcome wins.
class Watch {
 public:
  Watch(const Plan& plan, Judge& judge, Service& service, Server& server, LimitKeeper& limits,
        HomeSize* home, const Signals* signals, const SupervisorOptions& options)
      : plan_(plan),
        judge_(judge),
        service_(service),
        compartment_(service.compartment),
        server_(server),
        limits_(limits),
        home_(home),
        signals_(signals),
        options_(options) {}

  Outcome run() {
    std::optional<Outcome> outcome;
    while (!outcome) outcome = step();
    return *outcome;
  }

 private:
  std::optional<Outcome> step() {
    pollfd fds[] = {{compartment_.status.get(), POLLIN, 0},
                    {compartment_.init_pidfd.get(), POLLIN, 0},
                    {signals_ != nullptr ? signals_->fd() : -1, POLLIN, 0},
                    {limits_.fd(), POLLIN, 0},
                    {server_ended_ ? -1 : server_.ended_fd(), POLLIN, 0},
                    {options_.end_fd, POLLIN, 0},
                    {options_.requests != nullptr ? options_.requests->fd() : -1, POLLIN, 0}};
    const int ready = ::poll(fds, std::size(fds), server_.idle() ? kQuiet : kTick);
    if (ready < 0 && errno != EINTR)
      return SupervisorFailed{
          fmt::format("cannot wait for the compartment: {}", std::strerror(errno))};
    if (ready == 0 && !started_) {
      started_ = true;
      if (options_.settled) options_.settled();
    }
    server_.tick();
    // A breach first: what it did to the program is its consequence.
    if (fds[3].revents != 0)
      if (auto breach = limits_.poll()) return std::move(*breach);
    if (home_ != nullptr)
      if (auto breach = home_->look()) return std::move(*breach);
    if (fds[0].revents != 0)
      if (auto outcome = read_status()) return outcome;
    if (fds[5].revents != 0) return Ended{};
    if (fds[6].revents != 0) options_.requests->serve({limits_, service_.most_processes});
    // A program that waits for an answer sees no signal but SIGKILL. What it does on its way out is
    // not asked about either.
    if (fds[2].revents != 0 && signals_->pass_on(compartment_.program) && judge_.asking())
      judge_.stop_asking();
    if (fds[4].revents != 0) {
      if (const std::string failure = server_.failure(); !failure.empty())
        return SupervisorFailed{"serving system calls failed: " + failure};
      server_ended_ = true;  // every process with the filter is dead: init is about to tell
    }
    if (fds[1].revents != 0) {
      if (auto outcome = read_status()) return outcome;
      if (auto breach = limits_.poll()) return std::move(*breach);
      return SupervisorFailed{"the compartment's first process was killed from outside"};
    }
    return std::nullopt;
  }

  std::optional<Outcome> read_status() {
    for (;;) {
      ProgramEvent event{};
      const ssize_t n = ::recv(compartment_.status.get(), &event, sizeof event, MSG_DONTWAIT);
      if (n != static_cast<ssize_t>(sizeof event)) return std::nullopt;
      if (auto outcome = outcome_of(event, plan_)) return outcome;
      // By now it may have been continued: what counts is whether it is stopped still.
      if (event.kind == ProgramEvent::Kind::kStopped && options_.stopped && is_stopped())
        options_.stopped(event.value);
    }
  }

  bool is_stopped() const {
    const auto stat = stat_of(fmt::format("/proc/{}", compartment_.program));
    return stat && stat->state == 'T';
  }

  const Plan& plan_;
  Judge& judge_;
  Service& service_;
  Compartment& compartment_;
  Server& server_;
  LimitKeeper& limits_;
  HomeSize* home_;          // null: there is none
  const Signals* signals_;  // null: they are the caller's own
  const SupervisorOptions& options_;
  bool server_ended_ = false;
  bool started_ = false;  // and lived through a quiet moment since
};

// Begins to kill the compartment on every way out, before the threads that serve it are joined.
class Ending {
 public:
  Ending(const Compartment& compartment, Judge& judge, Requests* requests)
      : compartment_(compartment), judge_(judge), requests_(requests) {}
  ~Ending() {
    // First: a judge that waits for an answer about the compartment would be waited for.
    if (requests_ != nullptr) requests_->end();
    judge_.stop_asking();
    begin_to_kill(compartment_);
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  const Compartment& compartment_;
  Judge& judge_;
  Requests* requests_;  // null: nobody wants anything
};

// And waits for its end, once they are: it takes as long as they do.
class Killing {
 public:
  explicit Killing(Compartment& compartment) : compartment_(compartment) {}
  ~Killing() { kill_compartment(compartment_); }
  Killing(const Killing&) = delete;
  Killing& operator=(const Killing&) = delete;

 private:
  Compartment& compartment_;
};

}  // namespace

Supervisor::Supervisor(const Plan& plan, Judge& judge, SupervisorOptions options)
    : plan_(plan), judge_(judge), options_(std::move(options)) {}

Supervisor::~Supervisor() {
  { const Ending ending(prepared_.compartment, judge_, options_.requests); }
  kill_compartment(prepared_.compartment);
}

Result<std::unique_ptr<Supervisor>> Supervisor::prepare(const Plan& plan, Judge& judge,
                                                        SupervisorOptions options) {
  std::unique_ptr<Supervisor> self(new Supervisor(plan, judge, std::move(options)));
  BULKHEAD_CHECK(self->launch());
  BULKHEAD_CHECK(self->limit());
  return self;
}

Status Supervisor::launch() {
  BULKHEAD_TRY(limits_, LimitKeeper::prepare(plan_.limits));
  if (plan_.home) {
    BULKHEAD_TRY(places_, make_places(*plan_.home));
  }
  std::vector<std::string> foreign_proc;
  BULKHEAD_TRY(prepared_, bulkhead::prepare(plan_, [&](const Compartment& inside) -> Status {
                 (void)names_.load_hosts_file(kHosts);  // without it, names are resolved upstream
                 BULKHEAD_TRY(const std::string mounts,
                              read_file(fmt::format("/proc/{}/mountinfo", inside.init), 16U << 20));
                 foreign_proc = foreign_proc_mounts(mounts);
                 return {};
               }));
  Compartment& compartment = prepared_.compartment;
  processes_.emplace(compartment.proc.get());
  walker_.emplace(compartment.root.get(), *processes_, std::move(foreign_proc));
  if (!plan_.home) return {};
  home_size_.emplace(plan_.home->store(), plan_.limits.home.value_or(kMostOfHome),
                     options_.home_bytes);
  return walker_->has_home(*plan_.home);
}

Status Supervisor::limit() {
  const Compartment& compartment = prepared_.compartment;
  const Fd tmp = private_folder(compartment, "tmp", plan_.private_tmp);
  const Fd shm = private_folder(compartment, "dev/shm", plan_.private_shm);
  return limits_->attach({compartment.init,
                          compartment.program,
                          compartment.proc.get(),
                          tmp.get(),
                          shm.get(),
                          {compartment.system_v[0].get(), compartment.system_v[1].get(),
                           compartment.system_v[2].get()},
                          compartment.socket_diag.get(),
                          &processes_->taken()});
}

Status Supervisor::give(int number, int fd) { return bulkhead::give(prepared_, plan_, number, fd); }

Result<RunReport> Supervisor::run() {
  Compartment& compartment = prepared_.compartment;
  Service service{plan_,
                  compartment,
                  *prepared_.listener,
                  judge_,
                  *walker_,
                  names_,
                  *processes_,
                  options_.renames != nullptr ? *options_.renames : own_renames_};
  service.home_size = home_size_ ? &*home_size_ : nullptr;

  // From here on, in the order of their destruction: kill, then join, then wait.
  const Killing killing(compartment);
  std::optional<Signals> signals;
  Server server(service);
  std::unique_ptr<Resolver> resolver;
  RunReport report;
  {
    const Ending ending(compartment, judge_, options_.requests);
    if (options_.pass_signals) {
      BULKHEAD_TRY(Signals taken, Signals::take());
      signals.emplace(std::move(taken));
    }
    if (options_.started) options_.started(compartment.proc.get(), compartment.program);
    limits_->begin();
    // What the program asks the resolver can wait in the sockets.
    BULKHEAD_CHECK(server.start(prepared_.execve));
    ResolverOptions resolving;
    resolving.server = options_.dns_server;
    BULKHEAD_TRY(resolver, Resolver::start(compartment, judge_, names_, resolving));
    report.outcome =
        Watch(plan_, judge_, service, server, *limits_, service.home_size ? &*home_size_ : nullptr,
              signals ? &*signals : nullptr, options_)
            .run();
  }
  server.stop();
  resolver->stop();
  kill_compartment(compartment);
  // The kernel kills by itself at the memory limit, which looks like any other end.
  if (!std::holds_alternative<LimitBreached>(report.outcome))
    if (auto breach = limits_->ended_by_kernel()) report.outcome = std::move(*breach);
  report.notifications = server.notifications();
  report.peak_memory = limits_->peak_memory();
  return report;
}

Result<RunReport> supervise(const Plan& plan, Judge& judge, const SupervisorOptions& options) {
  // Before signals are blocked: the program inherits this thread's mask.
  BULKHEAD_TRY(const auto supervisor, Supervisor::prepare(plan, judge, options));
  return supervisor->run();
}

}  // namespace bulkhead
