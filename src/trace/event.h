// Event: one decided access, as the journal keeps it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "policy/access.h"

namespace bulkhead {

struct Event {
  std::chrono::system_clock::time_point time;
  Kind kind = Kind::kRead;
  std::string resource;              // canonical path, "host:port", variable name, permission
  Verdict verdict = Verdict::kDeny;  // the final one: kAllow or kDeny
  bool asked = false;                // a person (or nobody, in time) answered
  bool enforced = true;  // false in an audit run where a denial (verdict kDeny) was let pass
  std::string rule;      // the deciding rule as text, with its source
  int32_t pid = 0;       // of the process that tried, as the supervisor sees it
  std::string program;   // canonical path of its executable
  std::string detail;    // the system call or API method: "openat", "$executeTask"
  uint64_t count = 1;
};

// What is refused at each start of whatever program, and would bury what a person can act on: what
// the environment lacks, and what runtimes try and do without. Node tries io_uring and, on a
// terminal, its name by a look through /dev (ttyname(3)). The journal has it all.
inline bool is_routine(const Event& event) {
  return event.kind == Kind::kEnvironment ||
         (event.kind == Kind::kSystem && event.resource == "io_uring_setup") ||
         (event.kind == Kind::kRead && event.resource == "/dev");
}

}  // namespace bulkhead
