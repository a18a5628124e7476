#include "sandbox/run/requests.h"

#include <cerrno>
#include <utility>

namespace bulkhead {
namespace {

Error ended() { return Error{"the compartment has ended", ESRCH}; }

}  // namespace

Status Requests::ask(const std::function<Status(Watched&)>& what) {
  Request request{&what, std::nullopt};
  std::unique_lock lock(mutex_);
  if (ended_) return ended();
  requests_.push_back(&request);
  call_();
  answered_.wait(lock, [&] { return request.answer.has_value(); });
  return std::move(*request.answer);
}

void Requests::serve(Watched watched) {
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
