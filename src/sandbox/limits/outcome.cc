#include "sandbox/limits/outcome.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <cerrno>

namespace bulkhead {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace

int exit_code(const Outcome& outcome) {
  return std::visit(Overloaded{
                        [](const Exited& e) { return e.code; },
                        [](const Signaled& s) { return 128 + s.signal; },
                        [](const CannotRun& c) {
                          return c.errno_value == ENOENT || c.errno_value == ENOTDIR
                                     ? kExitNotFound
                                     : kExitCannotRun;
                        },
                        [](const LimitBreached& l) {
                          switch (l.which) {
                            case LimitBreached::Which::kMemory:
                              return kExitMemory;
                            case LimitBreached::Which::kCpuTime:
                              return kExitCpuTime;
                            case LimitBreached::Which::kWallTime:
                              return kExitWallTime;
                            case LimitBreached::Which::kWritten:
                              return kExitWritten;
                          }
                          return kExitFailed;
                        },
                        [](const SupervisorFailed&) { return kExitFailed; },
                        [](const Ended&) { return 0; },
                    },
                    outcome);
}

std::string describe(const Outcome& outcome) {
  return std::visit(
      Overloaded{
          [](const Exited& e) { return fmt::format("ended with exit code {}", e.code); },
          [](const Signaled& s) {
            return fmt::format("ended by {}{}", signal_name(s.signal),
                               s.core_dumped ? " (core dumped)" : "");
          },
          [](const CannotRun& c) {
            return c.message.empty()
                       ? fmt::format("could not be run: {}", ::strerror(c.errno_value))
                       : c.message;
          },
          [](const LimitBreached& l) { return fmt::format("ended by a limit: {}", l.message); },
          [](const SupervisorFailed& s) {
            return fmt::format("ended because the supervisor failed: {}", s.message);
          },
          [](const Ended&) { return std::string("ended on request"); },
      },
      outcome);
}

}  // namespace bulkhead
