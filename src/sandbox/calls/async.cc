// fcntl(F_SETFL) with O_ASYNC, ioctl(FIOASYNC): a signal for the owner of a descriptor that becomes
// ready. Owners that a program names (F_SETOWN) are the compartment's; but a terminal without one
// takes its foreground group, which may be the supervisor's. Nothing but Landlock's scope would
// hold that signal back, which kernels before 6.12 lack, and those from 6.15 on do not apply there
// until they are mended.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

#include "sandbox/calls/call.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

Reply serve_async(Call& call) {
  const bool by_ioctl = call.number() == __NR_ioctl;
  auto file = call.service().processes.borrow(call.tid(), call.fd_arg(0));
  if (!file.ok()) return Reply::error(file.error().errno_value);
  int on = 1;
  if (by_ioctl && !call.memory().read(call.arg(2), &on, sizeof on).ok())
    return Reply::error(EFAULT);
  if (!call.still_valid()) return Reply::error(EINTR);
  struct stat about {};
  if (::fstat(file->get(), &about) != 0) return Reply::error(errno);
  // Drivers are free to choose an owner too.
  if (S_ISCHR(about.st_mode) && on != 0) {
    call.note_refusal(Kind::kSystem, by_ioctl ? "ioctl" : "fcntl",
                      "signals by a device, for who else has it");
    return Reply::error(EINVAL);
  }
  const int done = by_ioctl ? ::ioctl(file->get(), FIOASYNC, &on)
                            : ::fcntl(file->get(), F_SETFL, static_cast<int>(call.flags_arg(2)));
  return done < 0 ? Reply::error(errno) : Reply::value(0);
}

Reply serve_ioctl(Call& call) {
  return call.flags_arg(1) == FIOASYNC ? serve_async(call) : serve_refusal(call);
}

}  // namespace bulkhead
