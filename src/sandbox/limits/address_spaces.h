// Which processes have one address space together: parent and child of vfork(2), until that
// executes, and whom clone(2) with CLONE_VM made. What is in it is there once.
#pragma once

#include <sys/types.h>

#include <vector>

#include "sandbox/limits/usage.h"

namespace bulkhead {

class AddressSpaces {
 public:
  // False where a process that this was asked of before has the same as `pid`. Where the kernel
  // does not tell (kcmp(2) is not there, or not allowed), each counts as having its own.
  bool is_new(pid_t pid);

 private:
  std::vector<pid_t> seen_;  // one for each, in the kernel's order
};

// What they have in memory, each address space once.
ProcReader::Proportional proportional_of(const ProcReader& proc, const std::vector<pid_t>& pids);

}  // namespace bulkhead
