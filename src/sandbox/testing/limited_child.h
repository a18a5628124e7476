// For tests: a small compartment of namespaces, as far as limits are concerned, with a real
// LimitKeeper that holds it to them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sandbox/limits/limits.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BULKHEAD_SANITIZED 1
#else
#define BULKHEAD_SANITIZED 0
#endif

namespace bulkhead::testing {

// Sanitizers map terabytes, which RLIMIT_DATA counts, and each process of theirs is larger.
inline constexpr bool kSanitized = BULKHEAD_SANITIZED != 0;

// Cgroups that root gives to an ordinary user, as systemd does by Delegate=yes: one in each
// hierarchy, with a cgroup in it for who starts there.
class Delegation {
 public:
  explicit Delegation(uid_t uid);
  Delegation(const Delegation&) = delete;
  Delegation& operator=(const Delegation&) = delete;
  ~Delegation();
  bool enter() const;

 private:
  std::vector<std::string> given_;
};

struct Outcomes {
  bool breached = false;
  bool kernel = false;  // told by ended_by_kernel()
  LimitBreached::Which which = LimitBreached::Which::kMemory;
  int exit_code = -1;
  uint64_t peak = 0;  // the keeper's
  LimitMechanisms mechanisms;
  char message[240] = {};
};

// Runs the program, with its supervisor, below a child of its own under `uid`, within what was
// given to it.
Outcomes measure(uid_t uid, const Delegation* given, const Limits& limits,
                 const LimitOptions& options, const std::function<int()>& program);

// For the program: waits until the keeper has looked so often at what is used since it was called.
// Where the kernel counts, the keeper need not look.
void be_looked_at(unsigned times);

bool can_make_compartments();

}  // namespace bulkhead::testing
