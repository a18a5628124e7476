#include "sandbox/library/supervised.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "sandbox/kernel/interrupt.h"

namespace bulkhead {
namespace {

// 0 to 2 may be closed in a host: what stood there would be taken for its own.
Result<Fd> event() {
  const Fd low(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Fd fd(low ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, 3) : -1);
  if (!fd) return errno_error("make an eventfd");
  return fd;
}

void tell(const Fd& event) {
  const uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

// A thread inherits its maker's mask: ours handle no signal of the host's.
class MaskForThreads {
 public:
  MaskForThreads() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigdelset(&all, interrupt_signal());
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~MaskForThreads() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  MaskForThreads(const MaskForThreads&) = delete;
  MaskForThreads& operator=(const MaskForThreads&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Supervised::Supervised(Plan plan, std::shared_ptr<Judge> judge, std::string name_server)
    : plan_(std::move(plan)), judge_(std::move(judge)), name_server_(std::move(name_server)) {}

Result<std::unique_ptr<Supervised>> Supervised::prepare(Plan plan, std::shared_ptr<Judge> judge,
                                                        std::string name_server,
                                                        std::vector<Fd> given) {
  std::unique_ptr<Supervised> self(
      new Supervised(std::move(plan), std::move(judge), std::move(name_server)));
  self->given_ = std::move(given);
  BULKHEAD_CHECK(self->open());
  BULKHEAD_CHECK(self->start_thread());
  return self;
}

Status Supervised::open() {
  BULKHEAD_CHECK(take_interrupt());
  BULKHEAD_TRY(requests_, Requests::make());
  BULKHEAD_TRY(end_fd_, event());
  BULKHEAD_TRY(ended_fd_, event());
  return {};
}

Status Supervised::start_thread() {
  try {
    const MaskForThreads mask;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return errno_error("start a compartment's thread", error.code().value());
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return prepared_ != nullptr || failed_; });
  if (!failed_) return {};
  return *failed_;
}

void Supervised::run() {
  SupervisorOptions options;
  options.dns_server = name_server_;
  options.end_fd = end_fd_.get();
  options.requests = requests_.get();
  options.pass_signals = false;
  auto supervisor = Supervisor::prepare(plan_, *judge_, options);
  given_.clear();  // the program has its own
  if (!supervisor.ok()) {
    const std::lock_guard lock(mutex_);
    failed_ = std::move(supervisor).error();
    changed_.notify_all();
    return;
  }
  if (!wait_to_begin(**supervisor)) return;
  auto report = (*supervisor)->run();
  requests_->end();
  const std::lock_guard lock(mutex_);
  report_ = report.ok() ? std::move(*report)
                        : RunReport{.outcome = SupervisorFailed{report.error().message}};
  tell(ended_fd_);
  changed_.notify_all();
}

// False: nobody wants it any more.
bool Supervised::wait_to_begin(Supervisor& supervisor) {
  std::unique_lock lock(mutex_);
  prepared_ = &supervisor;
  // The program waits for us, so its number is its own still.
  program_ = supervisor.program();
  program_fd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, program_, 0)));
  changed_.notify_all();
  changed_.wait(lock, [this] { return begun_ || dropped_; });
  prepared_ = nullptr;
  return begun_;
}

Status Supervised::give(int number, int fd) {
  const std::lock_guard lock(mutex_);
  return prepared_->give(number, fd);
}

Status Supervised::begin() {
  const std::lock_guard lock(mutex_);
  if (!prepared_->waits())
    return Error{"cannot start the compartment that was prepared: its program was killed", ESRCH};
  begun_ = true;
  changed_.notify_all();
  return {};
}

Supervised::~Supervised() {
  end();
  {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

const RunReport* Supervised::wait(std::optional<std::chrono::steady_clock::time_point> deadline) {
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return report_.has_value(); };
  if (!deadline)
    changed_.wait(lock, ended);
  else
    changed_.wait_until(lock, *deadline, ended);
  return report_ ? &*report_ : nullptr;
}

void Supervised::end() noexcept {
  if (end_fd_) tell(end_fd_);
}

Status Supervised::signal(int number) {
  if (program_fd_ && ::syscall(SYS_pidfd_send_signal, program_fd_.get(), number, nullptr, 0) == 0)
    return {};
  return errno_error("signal the compartment's program", program_fd_ ? errno : ESRCH);
}

}  // namespace bulkhead
