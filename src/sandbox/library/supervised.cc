#include "sandbox/library/supervised.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <mutex>
#include <utility>

#include "sandbox/plan/probe.h"

namespace bulkhead {
namespace {

Result<Fd> event() {
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return errno_error("make an eventfd");
  return fd;
}

void tell(const Fd& event) {
  const uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

// By a thread of ours: no handler of the host's runs there, and nothing depends on its stack.
class Launch final : private Task {
 public:
  Launch(const Plan& plan, Judge& judge, Loop& loop, SupervisorOptions options)
      : plan_(plan),
        judge_(judge),
        loop_(loop),
        options_(std::move(options)),
        key_(loop.add(*this)) {}
  ~Launch() override { loop_.remove(key_); }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  Result<std::unique_ptr<Supervisor>> wait() {
    loop_.call(key_);
    return launched_.get_future().get();
  }

 private:
  Clock::time_point turn(bool briefly) override {
    launched_.set_value(briefly ? errno_error("start a compartment: no thread can be had", EAGAIN)
                                : Supervisor::prepare(plan_, judge_, loop_, options_));
    return kNever;
  }

  const Plan& plan_;
  Judge& judge_;
  Loop& loop_;
  const SupervisorOptions options_;
  const Loop::Key key_;
  std::promise<Result<std::unique_ptr<Supervisor>>> launched_;
};

}  // namespace

Result<std::shared_ptr<SharedThreads>> SharedThreads::get() {
  // For good: compartments may be ended by destructors that run after ours would.
  static auto& mutex = *new std::mutex;
  static auto& shared = *new std::weak_ptr<SharedThreads>;
  const std::lock_guard lock(mutex);
  auto threads = shared.lock();
  if (threads != nullptr && threads->process_ == ::getpid()) return threads;
  BULKHEAD_TRY(threads, make());
  shared = threads;
  return threads;
}

Result<std::shared_ptr<SharedThreads>> SharedThreads::make() {
  std::shared_ptr<SharedThreads> self(new SharedThreads);
  auto loop = Loop::make();
  if (!loop.ok()) return with_what_is_missing(loop.error());
  self->loop_ = std::move(loop).value();
  BULKHEAD_TRY(self->parent_, Parent::make());
  return self;
}

Result<std::unique_ptr<Supervised>> Supervised::prepare(Plan plan, std::shared_ptr<Judge> judge,
                                                        std::string name_server,
                                                        std::vector<Fd> given) {
  std::unique_ptr<Supervised> self(new Supervised(std::move(plan), std::move(judge)));
  BULKHEAD_TRY(self->threads_, SharedThreads::get());
  BULKHEAD_TRY(self->ended_fd_, event());
  BULKHEAD_CHECK(self->launch(std::move(name_server)));
  given.clear();  // the program has its own
  // It waits for us, so its number is its own still. Where it was killed meanwhile, begin() sees
  // that and fails, and nothing is signalled before.
  const pid_t program = self->supervisor_->program();
  self->program_fd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, program, 0)));
  return self;
}

Status Supervised::launch(std::string name_server) {
  SupervisorOptions options;
  options.dns_server = std::move(name_server);
  options.ended = [this] { tell(ended_fd_); };
  options.parent = &threads_->parent();
  Launch launch(plan_, *judge_, threads_->loop(), std::move(options));
  BULKHEAD_TRY(supervisor_, launch.wait());
  return {};
}

Status Supervised::signal(int number) {
  if (program_fd_ && ::syscall(SYS_pidfd_send_signal, program_fd_.get(), number, nullptr, 0) == 0)
    return {};
  return errno_error("signal the compartment's program", program_fd_ ? errno : ESRCH);
}

}  // namespace bulkhead
