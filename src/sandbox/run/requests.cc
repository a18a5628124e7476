#include "sandbox/run/requests.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sandbox/launch/image.h"

namespace bulkhead {
namespace {

Error ended() { return Error{"the compartment has ended", ESRCH}; }

}  // namespace

Result<std::unique_ptr<Requests>> Requests::make() {
  Fd wanted(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wanted) return errno_error("make an eventfd");
  BULKHEAD_TRY(wanted, above_stdio(std::move(wanted)));
  return std::unique_ptr<Requests>(new Requests(std::move(wanted)));
}

Status Requests::ask(const std::function<Status(Watched&)>& what) {
  Request request{&what, std::nullopt};
  std::unique_lock lock(mutex_);
  if (ended_) return ended();
  requests_.push_back(&request);
  const uint64_t one = 1;
  (void)!::write(wanted_.get(), &one, sizeof one);
  answered_.wait(lock, [&] { return request.answer.has_value(); });
  return std::move(*request.answer);
}

void Requests::serve(Watched watched) {
  uint64_t count = 0;
  (void)!::read(wanted_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  for (Request* request : std::exchange(requests_, {})) request->answer = (*request->what)(watched);
  answered_.notify_all();
}

void Requests::end() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (Request* request : std::exchange(requests_, {})) request->answer = ended();
  answered_.notify_all();
}

}  // namespace bulkhead
