#include "sandbox/kernel/foreign_thread.h"

#include <linux/kcmp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>

#include "sandbox/kernel/kernel.h"
#include "sandbox/kernel/process_stat.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {
namespace {

Fd open_pidfd(pid_t number, unsigned flags) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, number, flags)));
}

// The processes of a pid namespace, of those that this user may look into.
std::vector<pid_t> processes_of(int space) {
  std::vector<pid_t> found;
  struct stat wanted {};
  if (::fstat(space, &wanted) != 0) return found;
  for (const pid_t process : numbers_in("/proc")) {
    struct stat its {};
    if (::stat((folder_of(process) + "/ns/pid").c_str(), &its) == 0 &&
        its.st_ino == wanted.st_ino && its.st_dev == wanted.st_dev)
      found.push_back(process);
  }
  return found;
}

std::map<pid_t, pid_t> search(int space, const std::vector<pid_t>& inner, pid_t likely) {
  const Processes all(-1);
  if (const auto its = likely != 0 ? all.status(likely) : std::nullopt;
      its && inner == std::vector{its->inner_process})
    return {{its->inner_process, its->process}};
  const std::set<pid_t> wanted(inner.begin(), inner.end());
  std::map<pid_t, pid_t> found;
  const auto look = [&](pid_t thread) {
    const auto its = all.status(thread);
    if (its && wanted.contains(its->inner_thread)) found[its->inner_thread] = thread;
  };
  const std::vector<pid_t> processes = processes_of(space);
  for (const pid_t process : processes) look(process);
  if (found.size() == wanted.size()) return found;
  for (const pid_t process : processes)
    for (const pid_t thread : numbers_in(folder_of(process) + "/task"))
      if (thread != process) look(thread);
  return found;
}

}  // namespace

ThreadDescriptors::ThreadDescriptors(pid_t thread)
    : thread_(thread), pidfd_(open_pidfd(thread, kPidfdThread)) {
  // Before Linux 6.9 there are pidfds of processes alone, which the first thread has the number of.
  if (!pidfd_) pidfd_ = open_pidfd(thread, 0);
  if (pidfd_) return;
  if (const auto its = Processes(-1).status(thread)) {
    leader_ = its->process;
    pidfd_ = open_pidfd(leader_, 0);
  }
  if (!pidfd_) error_ = ESRCH;
}

Result<Fd> ThreadDescriptors::copy(int number) const {
  if (!pidfd_) return Error{"cannot open the caller", error_};
  Fd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd_.get(), number, 0)));
  if (!copy) return errno_error("duplicate the caller's descriptor");
  // Afterwards: threads that have them apart never have them together again.
  if (leader_ != 0 && ::syscall(SYS_kcmp, thread_, leader_, KCMP_FILES, 0UL, 0UL) != 0)
    return Error{"the caller's descriptors are its own, and this kernel tells its process's",
                 EBADF};
  return copy;
}

std::map<pid_t, pid_t> numbers_outside(int space, const std::vector<pid_t>& inner, pid_t likely) {
  std::map<pid_t, pid_t> found;
  for (const pid_t each : inner) {
    const int number = ::ioctl(space, kNsGetPidFromPidns, each);
    if (number > 0)
      found[each] = number;
    else if (errno == ENOTTY)  // a kernel that does not know the question
      return search(space, inner, likely);
  }
  return found;
}

}  // namespace bulkhead
