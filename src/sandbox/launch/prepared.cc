#include "sandbox/launch/prepared.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>

#include <cerrno>

#include "sandbox/launch/stdio.h"

namespace bulkhead {

namespace {

// The program's first call that is notified: nothing of it runs before.
Result<Notification> first_call(Listener& listener, const Compartment& compartment) {
  for (;;) {
    BULKHEAD_TRY(auto received, listener.receive());
    if (received && received->number == SYS_execve && received->tid == compartment.program)
      return *received;
    if (received) return Error{"cannot prepare the compartment: an unexpected call", EPROTO};
    pollfd state{listener.fd(), POLLIN, 0};
    if (::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0)
      return Error{"cannot prepare the compartment: its program was killed before it began", ESRCH};
  }
}

}  // namespace

Result<Prepared> prepare(const Plan& plan, const Meanwhile& meanwhile, Parent* parent) {
  Prepared prepared;
  BULKHEAD_TRY(prepared.compartment, launch(plan, meanwhile, parent));
  prepared.listener.emplace(std::move(prepared.compartment.listener));
  auto call = first_call(*prepared.listener, prepared.compartment);
  if (!call.ok()) {
    kill_compartment(prepared.compartment);
    return std::move(call).error();
  }
  prepared.execve = *call;
  return prepared;
}

Status give(Prepared& prepared, const Plan& plan, int number, int fd) {
  const auto place = plan.stdio.find(number);
  if (place == plan.stdio.end() || place->second != kGivenLater)
    return Error{fmt::format("the program's descriptor {} is not one that is given later", number),
                 EBADF};
  BULKHEAD_CHECK(may_be_given(fd, number));
  const int error = prepared.listener->replace(prepared.execve, fd, number, false);
  if (error == ENOENT) return Error{"the program that waited was killed", ESRCH};
  if (error != 0)
    return errno_error(fmt::format("give the program its descriptor {}", number), error);
  return {};
}

}  // namespace bulkhead
