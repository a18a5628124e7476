// What stands behind include/bulkhead/compartment.h. Its types have the names of ours, in a
// namespace of their own: ours are Inner… here.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/fd.h"
#include "base/path.h"
#include "policy/policy_judge.h"
#include "policy/shipped.h"
#include "policy/units.h"
#include "sandbox/launch/stdio.h"
#include "sandbox/library/supervised.h"
#include "sandbox/limits/outcome.h"

namespace bulkhead {

using InnerError = Error;
using InnerJudge = Judge;
using InnerPolicy = Policy;
using InnerLimits = Limits;
using InnerOutcome = Outcome;
using InnerStatus = Status;
template <typename T>
using InnerResult = Result<T>;

}  // namespace bulkhead

#include "bulkhead/compartment.h"

namespace bulkhead {
inline namespace v1 {
namespace {

constexpr size_t kMaxManifest = 1 << 20;

v1::Error outer(const InnerError& error) { return {to_string(error), error.errno_value}; }

// Of a start, where this process or its user has used up something.
v1::Error outer_start(const InnerError& error) {
  v1::Error same = outer(error);
  if (error.errno_value == EMFILE)
    same.message += " (raise this process's limit on descriptors, RLIMIT_NOFILE)";
  if (error.errno_value == EAGAIN)
    same.message +=
        " (processes and threads: raise RLIMIT_NPROC or the cgroup's pids.max, or end some)";
  return same;
}

v1::Status outer(const InnerStatus& status) {
  if (status.ok()) return std::monostate{};
  return outer(status.error());
}

// The policy, and where it leaves something open, the host.
class HostsJudge final : public PolicyJudge {
 public:
  HostsJudge(std::shared_ptr<const InnerPolicy> policy, std::shared_ptr<v1::Judge> host)
      : PolicyJudge(std::move(policy)), host_(std::move(host)) {}

  void stop_asking() override {
    PolicyJudge::stop_asking();
    if (host_ && !told_.exchange(true)) host_->stop();
  }

 private:
  static Access access_of(Kind kind, std::string_view resource, const Attempt& attempt) {
    return {label(kind), resource, attempt.pid, attempt.detail};
  }
  bool answers() const noexcept override { return host_ != nullptr; }
  bool answer(Kind kind, const std::string& resource, const Attempt& attempt) override {
    return host_->allow(access_of(kind, resource, attempt));
  }
  void refused(Kind kind, std::string_view resource, std::string_view reason,
               const Attempt& attempt) override {
    if (host_) host_->refused(access_of(kind, resource, attempt), reason);
  }

  const std::shared_ptr<v1::Judge> host_;
  std::atomic<bool> told_ = false;  // of the end
};

InnerLimits inner(const v1::Limits& limits) {
  InnerLimits same;
  same.memory = limits.memory;
  same.cpu = limits.cpu;
  same.cpu_time = limits.cpu_time;
  same.wall_time = limits.wall_time;
  same.processes = limits.processes;
  same.files = limits.files;
  same.written = limits.written;
  return same;
}

// As for a manifest: zero is no limit that a program could live under, and what is more than these
// overflows.
InnerStatus check(const v1::Limits& limits) {
  const auto fits = [](const auto& value, auto most) {
    return !value || (*value > decltype(most){} && *value <= most);
  };
  constexpr uint64_t kMostBytes = INT64_MAX;
  const char* const wrong = !fits(limits.memory, kMostBytes)            ? "memory"
                            : !fits(limits.cpu, kMostCores)             ? "cpu"
                            : !fits(limits.cpu_time, kLongestDuration)  ? "cpu_time"
                            : !fits(limits.wall_time, kLongestDuration) ? "wall_time"
                            : !fits(limits.processes, kMostProcesses)   ? "processes"
                            : !fits(limits.files, kMostFiles)           ? "files"
                            : !fits(limits.written, kMostBytes)         ? "written"
                                                                        : nullptr;
  if (wrong == nullptr) return {};
  return InnerError{
      fmt::format("the limit {} must be more than 0, and no more than a manifest may say", wrong),
      EINVAL};
}

// Ours from now on, so that it does not matter what the host does with its own.
InnerResult<Fd> duplicate(int fd, int number) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) return errno_error(fmt::format("give descriptor {} as {}", fd, number));
  return copy;
}

InnerResult<Fd> open_null(int number) {
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!null) return errno_error(fmt::format("open /dev/null as descriptor {}", number));
  return null;
}

InnerResult<std::vector<Fd>> give(const std::map<int, int>& descriptors, const std::set<int>& later,
                                  Stdio& stdio) {
  std::vector<Fd> given;
  stdio.clear();
  for (const int number : later) {
    if (descriptors.contains(number))
      return InnerError{fmt::format("the program's descriptor {} is one of Options::descriptors, "
                                    "and one that is given later",
                                    number),
                        EINVAL};
    stdio[number] = kGivenLater;
  }
  for (const auto& [number, fd] : descriptors) {
    BULKHEAD_TRY(Fd copy, duplicate(fd, number));
    stdio[number] = copy.get();
    given.push_back(std::move(copy));
  }
  for (int number = 0; number <= 2; ++number) {
    if (stdio.contains(number)) continue;
    BULKHEAD_TRY(Fd copy, open_null(number));
    stdio[number] = copy.get();
    given.push_back(std::move(copy));
  }
  return given;
}

InnerStatus check(const Options& options) {
  if (options.command.empty())
    return InnerError{"no program to start: Options::command is empty", EINVAL};
  if (!options.command.front().starts_with('/'))
    return InnerError{
        fmt::format("{} is no absolute path: Options::command names the program's file",
                    options.command.front()),
        EINVAL};
  for (const auto& [name, texts] :
       {std::pair("command", &options.command), std::pair("environment", &options.environment)})
    for (const std::string& text : *texts)
      if (text.find('\0') != std::string::npos)
        return InnerError{
            fmt::format("\"{}\" holds a NUL byte: Options::{}", escape_for_display(text), name),
            EINVAL};
  if (!is_canonical(options.folder))
    return InnerError{
        fmt::format("{} is no absolute path without \".\" and \"..\": Options::folder",
                    options.folder),
        EINVAL};
  return check(options.limits);
}

v1::Outcome outer(const InnerOutcome& inner) {
  v1::Outcome outcome;
  outcome.code = exit_code(inner);
  outcome.text = describe(inner);
  using How = v1::Outcome::How;
  if (std::holds_alternative<Exited>(inner)) outcome.how = How::kExited;
  if (const auto* signaled = std::get_if<Signaled>(&inner)) {
    outcome.how = How::kSignaled;
    outcome.signal = signaled->signal;
    outcome.core_dumped = signaled->core_dumped;
  }
  if (std::holds_alternative<CannotRun>(inner)) outcome.how = How::kCannotRun;
  if (std::holds_alternative<LimitBreached>(inner)) outcome.how = How::kLimit;
  if (std::holds_alternative<Ended>(inner)) {
    outcome.how = How::kKilled;
    outcome.code = 128 + 9;
  }
  return outcome;
}

}  // namespace

Judge::~Judge() = default;
void Judge::refused(const Access& access, std::string_view rule) {
  static_cast<void>(access);
  static_cast<void>(rule);
}
void Judge::stop() {}

struct Policy::Data {
  std::shared_ptr<const InnerPolicy> policy;
};

Result<Policy> Policy::parse(std::string_view manifest, const PolicyOptions& options,
                             const std::string& name) {
  ShippedRules rules;
  rules.essentials = options.essentials;
  rules.blocklist = options.blocklist;
  const Variables& from = options.variables;
  bulkhead::PolicyInputs inputs;
  inputs.variables.workspace = from.workspace;
  inputs.variables.extension = from.extension;
  inputs.variables.storage = from.storage;
  inputs.variables.home = from.home;
  auto policy =
      compile_manifest(ManifestBytes::of(name, std::string(manifest)), rules, std::move(inputs));
  if (!policy.ok()) return outer(policy.error());
  return Policy(std::make_shared<const Data>(Data{std::move(*policy)}));
}

Result<Policy> Policy::load(const std::string& file, const PolicyOptions& options) {
  auto text = read_file(file, kMaxManifest);
  if (!text.ok()) return outer(text.error());
  return parse(*text, options, file);
}

struct Compartment::Impl {
  Impl() = default;
  // In a fork of the host the threads are missing that would end it, and it is the parent's.
  ~Impl() {
    if (process != ::getpid()) static_cast<void>(supervised.release());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  InnerStatus prepare(const std::shared_ptr<const InnerPolicy>& policy, const Options& options,
                      const std::set<int>& later) {
    BULKHEAD_CHECK(check(options));
    PlanOptions planned;
    planned.limits = inner(options.limits);
    BULKHEAD_TRY(Plan plan,
                 make_plan(policy, options.command, options.environment, options.folder, planned));
    plan.blocked_signals = plan.ignored_signals = 0;  // the host's are its own
    BULKHEAD_TRY(std::vector<Fd> given, give(options.descriptors, later, plan.stdio));
    BULKHEAD_TRY(
        supervised,
        Supervised::prepare(std::move(plan), std::make_shared<HostsJudge>(policy, options.judge),
                            options.name_server, std::move(given)));
    return {};
  }

  const pid_t process = ::getpid();
  std::unique_ptr<Supervised> supervised;
  mutable std::once_flag once;
  mutable v1::Outcome outcome;

  const v1::Outcome* outcome_of(const RunReport* report) const {
    if (report == nullptr) return nullptr;
    std::call_once(once, [&] { outcome = outer(report->outcome); });
    return &outcome;
  }
};

struct Prepared::Impl {
  // By an error nothing has changed.
  InnerStatus check(const std::map<int, int>& descriptors) const {
    if (!compartment) return InnerError{"what was prepared was started already", EALREADY};
    for (const auto& [number, fd] : descriptors) {
      if (!later.contains(number))
        return InnerError{
            fmt::format("the program's descriptor {} is not one that is given later", number),
            EBADF};
      BULKHEAD_CHECK(may_be_given(fd, number));
    }
    return {};
  }
  InnerStatus begin(const std::map<int, int>& descriptors) {
    for (const auto& [number, fd] : descriptors)
      BULKHEAD_CHECK(compartment->supervised->give(number, fd));
    for (const int number : later) {
      if (number > 2 || descriptors.contains(number)) continue;
      BULKHEAD_TRY(const Fd null, open_null(number));
      BULKHEAD_CHECK(compartment->supervised->give(number, null.get()));
    }
    return compartment->supervised->begin();
  }

  std::mutex mutex;
  std::unique_ptr<Compartment::Impl> compartment = std::make_unique<Compartment::Impl>();
  std::set<int> later;
};

Prepared::Prepared(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Prepared::Prepared(Prepared&& other) noexcept = default;
Prepared& Prepared::operator=(Prepared&& other) noexcept = default;
Prepared::~Prepared() = default;

pid_t Prepared::pid() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->compartment ? impl_->compartment->supervised->program() : 0;
}

Result<Compartment> Prepared::start(const std::map<int, int>& descriptors) {
  std::unique_ptr<Compartment::Impl> compartment;  // ends without the lock
  const std::lock_guard lock(impl_->mutex);
  if (const InnerStatus fit = impl_->check(descriptors); !fit.ok()) return outer(fit.error());
  const InnerStatus begun = impl_->begin(descriptors);
  compartment = std::move(impl_->compartment);
  if (!begun.ok()) return outer_start(begun.error());
  return Compartment(std::move(compartment));
}

Compartment::Compartment(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Compartment::Compartment(Compartment&& other) noexcept = default;
Compartment& Compartment::operator=(Compartment&& other) noexcept = default;
Compartment::~Compartment() = default;

Result<Compartment> Compartment::start(const Policy& policy, const Options& options) {
  auto impl = std::make_unique<Impl>();
  InnerStatus status = impl->prepare(policy.data().policy, options, {});
  if (status.ok()) status = impl->supervised->begin();
  if (!status.ok()) return outer_start(status.error());
  return Compartment(std::move(impl));
}

Result<Prepared> Compartment::prepare(const Policy& policy, const Options& options,
                                      const std::set<int>& later) {
  auto impl = std::make_unique<Prepared::Impl>();
  const InnerStatus prepared = impl->compartment->prepare(policy.data().policy, options, later);
  if (!prepared.ok()) return outer_start(prepared.error());
  impl->later = later;
  return Prepared(std::move(impl));
}

pid_t Compartment::pid() const { return impl_->supervised->program(); }

const Outcome& Compartment::wait() const {
  return *impl_->outcome_of(impl_->supervised->wait(std::nullopt));
}

const Outcome* Compartment::wait_until(std::chrono::steady_clock::time_point deadline) const {
  return impl_->outcome_of(impl_->supervised->wait(deadline));
}

const Outcome* Compartment::outcome() const { return wait_until({}); }

int Compartment::descriptor() const { return impl_->supervised->ended_fd(); }

void Compartment::kill() { impl_->supervised->end(); }

Status Compartment::signal(int number) { return outer(impl_->supervised->signal(number)); }

Result<Usage> Compartment::usage() const {
  Usage usage;
  const auto asked = impl_->supervised->requests().ask([&](Watched& it) -> InnerStatus {
    BULKHEAD_TRY(const UsedNow now, it.limits.used());
    usage = {now.memory, now.cpu_time, now.processes};
    return {};
  });
  if (!asked.ok()) return outer(asked.error());
  return usage;
}

Status Compartment::set_limits(const Limits& limits) {
  return outer(impl_->supervised->requests().ask([&](Watched& it) -> InnerStatus {
    BULKHEAD_CHECK(check(limits));
    BULKHEAD_CHECK(it.limits.change(inner(limits)));
    if (limits.processes) it.most_processes.store(*limits.processes);
    return {};
  }));
}

}  // namespace v1
}  // namespace bulkhead
