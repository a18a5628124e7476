// The process that becomes the program.
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/kernel/capabilities.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/kernel/landlock.h"
#include "sandbox/launch/init/init.h"

namespace bulkhead {
namespace {

// To a program of the machine or its socket, core(5). Unknown is yes.
bool cores_leave_the_file_system() noexcept {
  const int file = ::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  char first = '|';
  if (file >= 0) (void)!::read(file, &first, 1);
  if (file >= 0) ::close(file);
  return first == '|' || first == '@';
}

bool forbid_core_dumps(Failure& failure) noexcept {
  // core(5): 0 keeps files away but not a core_pattern that pipes to a program of the machine,
  // which would get the compartment's memory; 1 stops both. The filter keeps it at that.
  const rlimit no_core{1, 1};
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_max == 0 && !cores_leave_the_file_system())
    return true;  // nobody can raise it, and it suffices
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) return failed(failure, "limit", "core dumps");
  return true;
}

bool drop_privileges(const Orders<Read>& orders, Failure& failure) noexcept {
  const int error = keep_capabilities(orders.keep_capabilities);
  if (error != 0) return failed_with(failure, error, "drop capabilities");
  // execve gives no privileges any more: not setuid, not file capabilities. Also what lets an
  // unprivileged process use Landlock and seccomp.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed(failure, "set no_new_privs");
  return true;
}

// A process can give back most of a large page, and the kernel still keeps all of it, while no
// number shows more than the small rest. Inherited, also across execve; the filter keeps it so.
bool use_small_pages(const Orders<Read>& orders, Failure& failure) noexcept {
  if (orders.counts_memory == 0 || ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0) return true;
  return failed(failure, "turn off large pages");
}

// While there are the capabilities for the queues' folder. A kernel without queues refuses mq_open
// by itself.
// Those on relative paths are on spare folders of a private home.
bool restrict_files(const Orders<Read>& orders, int queues, int spare, Failure& failure) noexcept {
  std::span<const LandlockPlace> rules = orders.landlock;
  while (spare < 0 && !rules.empty() && rules.back().path[0] != '/')
    rules = rules.first(rules.size() - 1);
  if (spare >= 0 && ::syscall(SYS_fchdir, spare) != 0)
    return failed(failure, "enter the spare folders");
  LandlockSupport support;
  support.rights = orders.landlock_rights;
  support.scopes = orders.landlock_scopes != 0;
  const int error = landlock_restrict(support, rules, queues);
  return error == 0 || failed_with(failure, error, "restrict by Landlock");
}

// Afterwards the program has its numbers, and everything else goes when it executes: also
// `control`, which is behind all numbers, those that are given later included (see give()).
bool place_descriptors(const Orders<Read>& orders, int& control, Failure& failure) noexcept {
  int from[kMostNumbers] = {};
  size_t given = 0;
  int behind = 3;
  if (orders.numbers.size() > kMostNumbers) return failed_with(failure, E2BIG, "place descriptors");
  for (const NumberOrder& each : orders.numbers)
    if (static_cast<int>(each.number) >= behind) behind = static_cast<int>(each.number) + 1;
  if (::syscall(SYS_close_range, 0, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
    return failed(failure, "close descriptors");
  // Out of the way first: one may stand where another goes.
  const int moved = ::fcntl(control, F_DUPFD_CLOEXEC, behind);
  if (moved < 0) return failed(failure, "place descriptors");
  for (const NumberOrder& each : orders.numbers) {
    if (each.given == 0) continue;
    from[given] = ::fcntl(kGiven + static_cast<int>(given), F_DUPFD_CLOEXEC, behind);
    if (from[given++] < 0) return failed(failure, "place descriptors");
  }
  control = moved;
  given = 0;
  for (const NumberOrder& each : orders.numbers) {
    if (each.given != 0 && ::dup2(from[given++], static_cast<int>(each.number)) < 0)
      return failed(failure, "place descriptors");
  }
  return true;
}

int install_filter(const Orders<Read>& orders) noexcept {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(orders.filter.size());
  program.filter = orders.filter.data();
  return static_cast<int>(::syscall(
      SYS_seccomp, SECCOMP_SET_MODE_FILTER,
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program));
}

// All that is done by itself, while init mounts.
bool confine(const Orders<Read>& orders, int spare, Failure& failure) noexcept {
  // No signal to its group or by a key leaves the compartment. Not its session's leader: of a group
  // whose parent is in the same session others can tell that it has stopped.
  if (::setpgid(0, 0) != 0) return failed(failure, "make a process group");
  const int queues = open_queues();
  if (queues < 0 && errno != ENODEV) return failed(failure, "open the queues of the IPC namespace");
  if (!forbid_core_dumps(failure) || !drop_privileges(orders, failure) ||
      !use_small_pages(orders, failure) || !restrict_files(orders, queues, spare, failure))
    return false;
  if (queues >= 0) ::close(queues);
  if (spare >= 0) ::close(spare);
  return true;
}

// What takes all mounts; the filter last.
int finish(const Orders<Read>& orders, int& control, Failure& failure) noexcept {
  if (!place_descriptors(orders, control, failure)) return -1;
  // By path and not inherited: the path leads through the compartment's own mounts.
  if (::chdir(orders.folder) != 0)
    return failed(failure, "enter the working folder", orders.folder), -1;
  // The supervisor reads the arguments of the first execve from this process, which was forked from
  // an undumpable one. There is nothing in it that the user may not read.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return failed(failure, "become dumpable"), -1;
  uint64_t mask = orders.blocked_signals;
  if (::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask) != 0)
    return failed(failure, "set the signal mask"), -1;
  const int listener = install_filter(orders);
  if (listener < 0) failed(failure, "install the filter");
  return listener;
}

}  // namespace

void run_program(const Orders<Read>& orders, int mounted, int spare) noexcept {
  Failure failure;
  int control = kControl;
  if (!confine(orders, spare, failure)) give_up(control, failure);
  // Where init fails, the kernel ends this process with it.
  uint64_t count = 0;
  while (::read(mounted, &count, sizeof count) < 0 && errno == EINTR) {
  }
  if (count == 0) ::_exit(1);
  const int listener = finish(orders, control, failure);
  if (listener < 0) give_up(control, failure);
  // From here on every call goes through the filter: sendmsg, close, prlimit and execve only.
  if (!send_message(control, {SetupMessage::What::kListener}, &listener, 1)) ::_exit(1);
  ::close(listener);
  // Last: a limit on descriptors is the program's, not that of setting up.
  for (const ProcessLimit& limit : orders.limits) {
    if (const int error = keep_limit(limit); error != 0) {
      failed_with(failure, error, "limit", "resources");
      give_up(control, failure);
    }
  }
  // The reader has put a null pointer behind the last of each.
  ::execve(orders.program, const_cast<char* const*>(orders.arguments.data()),
           const_cast<char* const*>(orders.environment.data()));
  send_event(control, ProgramEvent::Kind::kExecFailed, errno);
  ::_exit(127);
}

}  // namespace bulkhead
