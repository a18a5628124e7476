// How a compartment ended. The first final outcome wins.
#pragma once

#include <string>
#include <variant>

namespace bulkhead {

struct Exited {
  int code = 0;
};
struct Signaled {
  int signal = 0;
  bool core_dumped = false;
};
struct CannotRun {
  int errno_value = 0;
  std::string message;
};  // execve of the program failed or was denied
struct LimitBreached {
  enum class Which { kMemory, kCpuTime, kWallTime, kWritten } which = Which::kMemory;
  std::string message;  // "memory: 530 MiB used, 512 MiB allowed"
};
struct SupervisorFailed {
  std::string message;
};  // the compartment was killed because of it

struct Ended {};  // by whoever runs the supervisor: SupervisorOptions::end_fd

using Outcome = std::variant<Exited, Signaled, CannotRun, LimitBreached, SupervisorFailed, Ended>;

// Exit codes of `bulkhead run`; the program's own pass through, signals as 128 + n where the
// supervisor cannot die of the same signal.
inline constexpr int kExitWritten = 119;
inline constexpr int kExitMemory = 120;
inline constexpr int kExitCpuTime = 121;
inline constexpr int kExitWallTime = 124;   // as timeout(1)
inline constexpr int kExitFailed = 125;     // bulkhead itself: bad input, missing kernel feature
inline constexpr int kExitCannotRun = 126;  // as a shell: found, but denied or not executable
inline constexpr int kExitNotFound = 127;

int exit_code(const Outcome& outcome);
std::string describe(const Outcome& outcome);  // "ended with exit code 3"

}  // namespace bulkhead
