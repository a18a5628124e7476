// DelegatedScope: a cgroup that the user's service manager makes for this process and leaves to it,
// where limits would be polled otherwise.
//
//   user.slice/user-1000.slice ─┬─ session-2.scope                 root's: nothing can be made
//   there
//                               └─ user@1000.service/…/bulkhead-….scope   from the manager
//                                                      ├─ supervisor      this process
//                                                      └─ bulkhead-…-0    its compartment
//                                                      (cgroup.h)
//
// The manager removes it when the last process has left it, however that ended.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/manifest.h"

namespace bulkhead {

// How long the start of a program waits for a manager that does not answer.
inline constexpr std::chrono::milliseconds kManagersTime{1500};

// True where a cgroup would keep one of these limits, and the ones above us are not ours to write.
bool lacks_cgroup(const Limits& limits);

// Moves this process, with all of its threads, into a scope of its own. By an error it is where it
// was, and limits are kept as before. One that ignores SIGHUP stays: it is to outlive the login,
// and the manager would end it.
Status enter_delegated_scope(std::chrono::milliseconds patience = kManagersTime);

// The same with another manager and another machine (tests). `start` is start_own_scope(),
// `own_cgroup` reads /proc/self/cgroup; `root` stands before the paths of `mountinfo`.
struct ScopeSurroundings {
  std::function<Status(const std::string& name, std::chrono::steady_clock::time_point until)> start;
  std::function<Result<std::string>()> own_cgroup;
  std::string mountinfo, root;
};
Status enter_delegated_scope(std::chrono::milliseconds patience, const ScopeSurroundings& here);

// Pure: whether the machine's controller is one of version 2, as far as is mounted.
bool is_unified(const std::string& controller, std::string_view mountinfo);

}  // namespace bulkhead
