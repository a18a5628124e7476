// fork and clone where processes are counted; setuid and friends.
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/calls/call.h"
#include "sandbox/processes.h"

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
  // yet.
  if (processes.count() + processes.forks_under_way(call.tid()) >= *limit) {
    call.note_refusal(Kind::kSystem, "fork", "limits.processes is reached");
    return Reply::error(EAGAIN);
  }
  processes.note_fork(call.tid());
  return Reply::go_on();
}

Reply serve_credentials(Call& call) {
  // What the kernel allows inside the compartment's user namespace is between it and the caller;
  // but from now on the supervisor has to look whom it opens files for.
  call.service().processes.note_changed_identity();
  return Reply::go_on();
}

}  // namespace bulkhead
