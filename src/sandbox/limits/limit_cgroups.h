// LimitCgroups: the cgroups of one compartment, and its limits as the kernel keeps them there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/manifest.h"
#include "sandbox/limits/cgroup.h"

namespace bulkhead {

class LimitCgroups {
 public:
  // Each makes the cgroup where there is none yet. An error: it cannot be had, and nothing is
  // limited.
  Status limit_memory(uint64_t bytes);
  Status limit_cpu(double cores);
  Status count_cpu_time();

  Status change_memory(uint64_t bytes, bool raises) const;
  Status change_cpu(double cores) const;

  Status add(pid_t pid) const;  // to all of them

  // Whether what is swapped out is not limited with the rest.
  bool leaves_swap() const { return leaves_swap_; }
  // Version 1 counts the buffers of TCP apart, and does not limit them.
  bool leaves_tcp() const { return of_memory().version() == 1; }

  struct Memory {
    uint64_t kills = 0;  // by the kernel, for more than is allowed
    uint64_t peak = 0;   // bytes, with cached files; 0: the kernel does not tell
  };
  // nullopt: the cgroup is gone.
  std::optional<Memory> memory() const;
  std::optional<std::chrono::microseconds> cpu_time() const;

 private:
  Result<size_t> with(const std::string& controller);
  const Cgroup& of_memory() const { return cgroups_[memory_]; }

  std::vector<Cgroup> cgroups_;
  std::vector<CgroupParent> parents_;  // of cgroups_, by index
  size_t memory_ = 0, cpu_ = 0, cpu_time_ = 0;
  bool leaves_swap_ = false;
};

}  // namespace bulkhead
