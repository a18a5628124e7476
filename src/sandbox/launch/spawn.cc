#include "sandbox/launch/spawn.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/launch/init/init.h"
#include "sandbox/launch/own_stack.h"

namespace bulkhead {

Result<pid_t> Spawn::start(Fd& pidfd) {
  if (::getrlimit(RLIMIT_MSGQUEUE, &queues_) != 0 || ::getrlimit(RLIMIT_SIGPENDING, &signals_) != 0)
    return errno_error("read a limit");
  {
    const BlockedSignals blocked;
    // Shares our descriptors, so that none is copied; told to nobody when it ends.
    const pid_t maker =
        ::clone(make_init, stack_of_maker_.end(), CLONE_VM | CLONE_VFORK | CLONE_FILES, this);
    if (maker < 0) return errno_error("clone");
    while (::waitpid(maker, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  if (init_ > 0) pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_t{init_}, 0)));
  const int no_pidfd = errno;
  if (init_ > 0 && executes_ && step_ == nullptr && pidfd) return pid_t{init_};
  // It has ended, or is to, and nobody else waits for it. Where somebody killed the process
  // between, it may be on our memory still.
  if (init_ > 0) {
    (void)::kill(init_, SIGKILL);
    while (::waitpid(init_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  pidfd.reset();
  if (step_ != nullptr) return Error{step_, error_};
  return executes_ ? Error{"open init's pidfd", no_pidfd} : Error{"clone", EINTR};
}

void Spawn::fail(const char* step) noexcept {
  error_ = errno;
  step_ = step;
}

// Its limits are its own. POSIX queues take memory that is counted for the user, in all of the
// user's IPC namespaces together, and so are signals that wait. A new user namespace may take of
// these what its maker may at that moment: half, so that programs outside find the rest, and so do
// we, who interrupt our threads by a signal.
BULKHEAD_ON_A_STACK_OF_ITS_OWN bool Spawn::halve(int what, const rlimit& limit) noexcept {
  if (limit.rlim_cur == RLIM_INFINITY) return true;
  const rlimit half{limit.rlim_cur / 2, limit.rlim_max};
  return ::syscall(SYS_prlimit64, 0, what, &half, nullptr) == 0;
}

BULKHEAD_ON_A_STACK_OF_ITS_OWN int Spawn::make_init(void* spawn) noexcept {
  Spawn& self = *static_cast<Spawn*>(spawn);
  if (!halve(RLIMIT_MSGQUEUE, self.queues_)) return self.fail("limit queues"), 1;
  if (!halve(RLIMIT_SIGPENDING, self.signals_)) return self.fail("limit signals"), 1;
  // The host's child and not ours: the first process of a pid namespace is told to its parent when
  // it ends, and ends with it.
  // The kernel writes its number before it runs, so that is known whatever becomes of this process.
  const pid_t init =
      ::clone(become_init, self.stack_of_init_.end(),
              CLONE_VM | CLONE_VFORK | CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_NEWUSER |
                  CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC,
              spawn, const_cast<pid_t*>(&self.init_));
  if (init < 0) return self.fail("clone"), 1;
  self.executes_ = true;
  return 0;
}

BULKHEAD_ON_A_STACK_OF_ITS_OWN int Spawn::become_init(void* spawn) noexcept {
  Spawn& self = *static_cast<Spawn*>(spawn);
  if (!self.place_descriptors()) return self.fail("place descriptors"), 1;
  if (!keep_capabilities_at_execve()) return self.fail("keep capabilities"), 1;
  static char name[] = "bulkhead-init";
  static char* const arguments[] = {name, nullptr};
  static char* const environment[] = {nullptr};
  ::syscall(SYS_execveat, self.image_, "", arguments, environment, AT_EMPTY_PATH);
  self.fail("execute bulkhead-init");
  return 1;
}

// Everything of the host's goes at execve but what init gets. The descriptors are a copy: a
// sanitizer that saw what becomes of them here would take it for the host's.
BULKHEAD_ON_A_STACK_OF_ITS_OWN bool Spawn::place_descriptors() noexcept {
  const int count = static_cast<int>(descriptors_.size());
  const int behind = kControl + count;
  if (::syscall(SYS_close_range, 0, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
  // Out of the way first, to what begins behind: one may stand where another goes. So may the
  // program of init, which is executed as it is then.
  const auto move_behind = [behind](int fd) BULKHEAD_ON_A_STACK_OF_ITS_OWN {
    return static_cast<int>(::syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, behind));
  };
  int from[kMostGiven] = {};
  if (count > kMostGiven) return errno = E2BIG, false;
  for (int i = 0; i < count; ++i)
    if ((from[i] = move_behind(descriptors_[static_cast<size_t>(i)])) < 0) return false;
  if (image_ < behind && (image_ = move_behind(image_)) < 0) return false;
  for (int i = 0; i < count; ++i)
    if (::syscall(SYS_dup3, from[i], kControl + i, 0) < 0) return false;
  return true;
}

// execve takes them from a user whose id is not mapped yet, root included, but for ambient ones.
BULKHEAD_ON_A_STACK_OF_ITS_OWN bool Spawn::keep_capabilities_at_execve() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  for (__user_cap_data_struct& half : data) half.inheritable = half.permitted;
  if (::syscall(SYS_capset, &header, data) != 0) return false;
  for (unsigned number = 0; number < 64; ++number) {
    if ((data[number / 32].permitted >> (number % 32) & 1U) == 0) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) != 0) return false;
  }
  return true;
}

}  // namespace bulkhead
