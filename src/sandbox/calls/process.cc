// fork and clone where processes are counted; filters of system calls; setuid, capset and friends.
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/calls/call.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

Reply serve_fork(Call& call) {
  if (call.number() == __NR_clone) {
    // The flags are a register: nobody can change them after this.
    constexpr uint64_t kNew = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                              CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    if ((call.arg(0) & kNew) != 0) return serve_refusal(call);
    if ((call.arg(0) & CLONE_THREAD) != 0) return Reply::go_on();
  }
  const auto& limit = call.service().plan.limits.processes;
  if (!limit) return Reply::go_on();
  Processes& processes = call.service().processes;
  // The kernel forks after the answer, so that others that were just told to go on may not show
  // yet. These first: what ends in between counts twice, and not never.
  const uint32_t under_way = processes.forks_under_way(call.tid());
  if (processes.count() + under_way >= *limit) {
    call.note_refusal(Kind::kSystem, "fork", "limits.processes is reached");
    return Reply::error(EAGAIN);
  }
  processes.note_fork(call.tid());
  return Reply::go_on();
}

Reply serve_filter(Call& call) {
  // A filter only restricts its callers, whatever stands in it: the kernel may read it again.
  if (call.service().processes.take_filter()) return Reply::go_on();
  call.note_refusal(Kind::kSystem, "seccomp", "too many filters of system calls");
  return Reply::error(ENOMEM);
}

namespace {

// True where the caller asks for the identity that everybody in the compartment started with, which
// is the supervisor's: make, among others, asks for that at every start.
bool keeps_identity(const Call& call) {
  size_t ids = 1;
  bool groups = false;
  switch (call.number()) {
    case __NR_setuid:
    case __NR_setfsuid:
      break;
    case __NR_setreuid:
      ids = 2;
      break;
    case __NR_setresuid:
      ids = 3;
      break;
    case __NR_setgid:
    case __NR_setfsgid:
      groups = true;
      break;
    case __NR_setregid:
      groups = true;
      ids = 2;
      break;
    case __NR_setresgid:
      groups = true;
      ids = 3;
      break;
    default:  // setgroups; capset, whose sets are memory
      return false;
  }
  const uint32_t own = groups ? ::getegid() : ::geteuid();
  for (size_t i = 0; i < ids; ++i)
    if (call.flags_arg(i) != own && call.flags_arg(i) != UINT32_MAX) return false;
  return true;
}

}  // namespace

Reply serve_credentials(Call& call) {
  // What the kernel allows inside the compartment's user namespace is between it and the caller;
  // but once somebody is somebody else, the supervisor has to look whom it opens files for. An
  // ordinary user's compartment has that user alone.
  Processes& processes = call.service().processes;
  if (::geteuid() == 0 && !keeps_identity(call)) processes.note_changed_identity();
  return Reply::go_on();
}

}  // namespace bulkhead
