// Threads of other processes: their descriptors, and their numbers in another pid namespace. Where
// the kernel cannot be asked (before Linux 6.9 and 6.11) it is found out.
#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// Copies descriptors of one thread, as long as that lives.
class ThreadDescriptors {
 public:
  explicit ThreadDescriptors(pid_t thread);
  // errno as an error: EBADF where it has none by that number, or where its descriptors are its own
  // and this kernel knows its process's alone; ESRCH where nobody is there. Closing a copy may take
  // as long as its owner has said (SO_LINGER), where that has closed its own.
  Result<Fd> copy(int number) const;

 private:
  pid_t thread_;
  pid_t leader_ = 0;  // whose descriptors are copied; 0: the thread's
  Fd pidfd_;
  int error_ = 0;
};

// The numbers that we know processes and threads of another pid namespace by, which there are
// called `inner`; missing are those that have gone. `space`: that namespace, as /proc/PID/ns/pid
// opened. Before Linux 6.11 one look at all processes of this user, however many are asked for,
// unless it is the process of `likely` alone ("/dev/stdin"): a thread there, by our number; 0:
// nobody's.
std::map<pid_t, pid_t> numbers_outside(int space, const std::vector<pid_t>& inner,
                                       pid_t likely = 0);

}  // namespace bulkhead
