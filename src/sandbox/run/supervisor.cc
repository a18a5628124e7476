#include "sandbox/run/supervisor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/kernel/process_stat.h"
#include "sandbox/launch/report.h"
#include "sandbox/plan/probe.h"

namespace bulkhead {

namespace {

constexpr std::chrono::seconds kQuiet{1};  // between looks at what nobody tells of

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

}  // namespace

Supervisor::Supervisor(const Plan& plan, Judge& judge, Loop& loop, SupervisorOptions options)
    : plan_(plan),
      judge_(judge),
      loop_(loop),
      options_(std::move(options)),
      key_(loop.add(*this)),
      requests_([this] { loop_.call(key_); }) {}

Supervisor::~Supervisor() {
  bool begun = false;
  {
    const std::lock_guard lock(mutex_);
    begun = begun_;
  }
  if (begun) {
    end();
    wait();
  }
  loop_.remove(key_);
  if (begun) return;
  begin_to_end();
  stop_serving();
}

Result<std::unique_ptr<Supervisor>> Supervisor::prepare(const Plan& plan, Judge& judge, Loop& loop,
                                                        SupervisorOptions options) {
  std::unique_ptr<Supervisor> self(new Supervisor(plan, judge, loop, std::move(options)));
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
  const auto inside = [&](const Compartment& compartment) -> Status {
    (void)names_.load_hosts_file(kHosts);  // without it, names are resolved upstream
    BULKHEAD_TRY(const std::string mounts,
                 read_file(fmt::format("/proc/{}/mountinfo", compartment.init), 16U << 20));
    foreign_proc = foreign_proc_mounts(mounts);
    return {};
  };
  BULKHEAD_TRY(prepared_, bulkhead::prepare(plan_, inside, options_.parent));
  Compartment& compartment = prepared_.compartment;
  processes_.emplace(compartment.proc.get());
  walker_.emplace(compartment.root.get(), *processes_, std::move(foreign_proc));
  if (plan_.home) {
    BULKHEAD_CHECK(walker_->has_home(*plan_.home));
    spare_folders_.emplace(*plan_.home);
    home_size_.emplace(plan_.home->store(), plan_.limits.home.value_or(kMostOfHome),
                       options_.home_bytes);
  }
  RenameLock& renames = options_.renames != nullptr ? *options_.renames : own_renames_;
  service_.reset(new Service{plan_, compartment, *prepared_.listener, judge_, *walker_, names_,
                             *processes_, renames, home_size_ ? &*home_size_ : nullptr,
                             spare_folders_ ? &*spare_folders_ : nullptr});
  ports_.emplace(compartment, judge_, loop_, options_.port_news);
  service_->ports = &*ports_;
  return {};
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

Status Supervisor::begin(const Signals* signals) {
  const Compartment& compartment = prepared_.compartment;
  if (!prepared_.listener->still_valid(prepared_.execve))
    return Error{"cannot begin in the compartment: its program was killed while it waited", ESRCH};
  signals_ = signals;
  if (options_.started) options_.started(compartment.proc.get(), compartment.program);
  ResolverOptions resolving;
  resolving.server = options_.dns_server;
  BULKHEAD_TRY(resolver_, Resolver::start(compartment, judge_, names_, loop_, resolving));
  server_.emplace(*service_, loop_, key_);
  BULKHEAD_CHECK(watch());
  limits_->begin();
  const auto now = Clock::now();
  quiet_since_ = now;
  BULKHEAD_CHECK(server_->start(prepared_.execve));
  {
    const std::lock_guard lock(mutex_);
    begun_ = true;
  }
  // What came before that had no turn; since then quiet_since_ is the turns' to write.
  loop_.call_by(key_, now + Server::kTick);
  return {};
}

Status Supervisor::watch() {
  for (const int fd : {prepared_.compartment.status.get(), prepared_.compartment.init_pidfd.get(),
                       signals_ != nullptr ? signals_->fd() : -1, limits_->fd(), options_.end_fd})
    if (fd >= 0) BULKHEAD_CHECK(loop_.watch(key_, fd, EPOLLIN));
  return {};
}

void Supervisor::end() noexcept {
  end_wanted_.store(true);
  loop_.call(key_);
}

const RunReport* Supervisor::wait(std::optional<std::chrono::steady_clock::time_point> deadline) {
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return report_.has_value(); };
  if (!deadline)
    changed_.wait(lock, ended);
  else
    changed_.wait_until(lock, *deadline, ended);
  return report_ ? &*report_ : nullptr;
}

// ---- In turns ----

Task::Clock::time_point Supervisor::turn(bool briefly) {
  {
    const std::lock_guard lock(mutex_);
    if (!begun_ || report_) return kNever;
  }
  if (!outcome_) outcome_ = look();
  if (!outcome_) return next_look();
  if (briefly) return put_off_end();
  finish(std::move(*outcome_));
  return kNever;
}

// The outcome, once it is known. The first final one wins.
std::optional<Outcome> Supervisor::look() {
  Compartment& compartment = prepared_.compartment;
  pollfd fds[] = {{compartment.status.get(), POLLIN, 0},
                  {compartment.init_pidfd.get(), POLLIN, 0},
                  {signals_ != nullptr ? signals_->fd() : -1, POLLIN, 0},
                  {limits_->fd(), POLLIN, 0},
                  {options_.end_fd, POLLIN, 0}};
  const int ready = ::poll(fds, std::size(fds), 0);
  if (ready < 0 && errno != EINTR)
    return SupervisorFailed{
        fmt::format("cannot wait for the compartment: {}", std::strerror(errno))};
  const auto now = Clock::now();
  if (ready > 0) quiet_since_ = now;
  if (!settled_ && now - quiet_since_ >= kQuiet) {
    settled_ = true;
    if (options_.settled) options_.settled();
  }
  server_->tick();
  // A breach first: what it did to the program is its consequence.
  if (fds[3].revents != 0)
    if (auto breach = limits_->poll()) return std::move(*breach);
  if (home_size_)
    if (auto breach = home_size_->look()) return std::move(*breach);
  if (fds[0].revents != 0)
    if (auto outcome = read_status()) return outcome;
  if (fds[4].revents != 0 || end_wanted_.load()) return Ended{};
  requests_.serve({*limits_, service_->most_processes});
  // A program that waits for an answer sees no signal but SIGKILL. What it does on its way out is
  // not asked about either.
  if (fds[2].revents != 0 && signals_->pass_on(compartment.program) && judge_.asking())
    judge_.stop_asking();
  if (!server_ended_ && server_->ended()) {
    if (const std::string failure = server_->failure(); !failure.empty())
      return SupervisorFailed{"serving system calls failed: " + failure};
    server_ended_ = true;  // every process with the filter is dead: init is about to tell
  }
  if (fds[1].revents != 0) {
    if (auto outcome = read_status()) return outcome;
    if (auto breach = limits_->poll()) return std::move(*breach);
    return SupervisorFailed{"the compartment's first process was killed from outside"};
  }
  return std::nullopt;
}

std::optional<Outcome> Supervisor::read_status() {
  for (;;) {
    ProgramEvent event{};
    const ssize_t n =
        ::recv(prepared_.compartment.status.get(), &event, sizeof event, MSG_DONTWAIT);
    if (n != static_cast<ssize_t>(sizeof event)) return std::nullopt;
    if (auto outcome = outcome_of(event, plan_)) return outcome;
    // By now it may have been continued: what counts is whether it is stopped still.
    if (event.kind == ProgramEvent::Kind::kStopped && options_.stopped && is_stopped())
      options_.stopped(event.value);
  }
}

bool Supervisor::is_stopped() const {
  const auto stat = stat_of(fmt::format("/proc/{}", program()));
  return stat && stat->state == 'T';
}

// The end waits for threads and for the host's judge, for which the loop's own thread has no time.
// What it is about ends at once, and gives back the threads that it holds.
Task::Clock::time_point Supervisor::put_off_end() {
  requests_.end();
  begin_to_kill(prepared_.compartment);
  server_->tick();
  loop_.want_worker(key_);
  return Clock::now() + Server::kTick;
}

// All else is told.
Task::Clock::time_point Supervisor::next_look() {
  auto next = kNever;
  const auto now = Clock::now();
  if (server_->busy()) next = now + Server::kTick;
  if (home_size_ || processes_->expects_any()) next = std::min(next, now + kQuiet);
  if (!settled_ && options_.settled) next = std::min(next, quiet_since_ + kQuiet);
  return next;
}

void Supervisor::begin_to_end() {
  // First: a judge that waits for an answer about the compartment would be waited for.
  requests_.end();
  judge_.stop_asking();
  begin_to_kill(prepared_.compartment);
}

// Then, before what serves is joined, and waits for its end once that is: it takes as long as they
// do.
void Supervisor::stop_serving() {
  if (server_) server_->stop();
  if (resolver_) resolver_->stop();
  const Compartment& compartment = prepared_.compartment;
  for (const int fd : {compartment.status.get(), compartment.init_pidfd.get(),
                       signals_ != nullptr ? signals_->fd() : -1,
                       limits_ != nullptr ? limits_->fd() : -1, options_.end_fd})
    loop_.forget(fd);
  kill_compartment(prepared_.compartment);
  // Last: what the server said before its end is still carried.
  if (ports_) ports_->stop();
}

void Supervisor::finish(Outcome outcome) {
  begin_to_end();
  stop_serving();
  // The kernel kills by itself at the memory limit, which looks like any other end.
  if (!std::holds_alternative<LimitBreached>(outcome))
    if (auto breach = limits_->ended_by_kernel()) outcome = std::move(*breach);
  RunReport report{std::move(outcome), server_->notifications(), limits_->peak_memory()};
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
  if (options_.ended) options_.ended();
  changed_.notify_all();
}

Result<RunReport> supervise(const Plan& plan, Judge& judge, const SupervisorOptions& options) {
  const auto loop = Loop::make();
  if (!loop.ok()) return with_what_is_missing(loop.error());
  std::optional<Signals> signals;  // outlives the supervisor
  // Before signals are blocked: the program inherits this thread's mask.
  BULKHEAD_TRY(const auto supervisor, Supervisor::prepare(plan, judge, **loop, options));
  if (options.pass_signals) {
    BULKHEAD_TRY(Signals taken, Signals::take());
    signals.emplace(std::move(taken));
  }
  BULKHEAD_CHECK(supervisor->begin(signals ? &*signals : nullptr));
  return *supervisor->wait();
}

}  // namespace bulkhead
