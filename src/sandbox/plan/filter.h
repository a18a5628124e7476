// Filter: what becomes of each system call, as one table, and the seccomp program made from it.
//
// The program sees registers only, never what a pointer points to. So a rule may be decided here
// when the registers say everything (a socket's family, clone's flags); whatever names a path, a
// program or an address is notified to the supervisor.
//
// Pure: nothing here touches the kernel. The instructions are made by hand and not by libseccomp,
// which has no "otherwise" for a call whose arguments match none of its rules: such a call gets the
// filter's default, and ioctl or clone need another one than an unknown call.
//
// What this does not stop: anything done with descriptors that the program already holds.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bulkhead {

struct CallAction {
  enum class Type : uint8_t {
    kAllow,
    kNotify,               // the supervisor answers
    kErrno,                // the kernel answers at once with errno_value (0: pretends success)
    kNotifyIfForksCount,   // kNotify under FilterOptions::count_processes, else kAllow
    kErrnoIfCpusFixed,     // kErrno under FilterOptions::fixed_cpus, else kAllow
    kErrnoIfWritesCount,   // kErrno under FilterOptions::count_written, else kAllow
    kErrnoIfMemoryCounts,  // kErrno under FilterOptions::count_memory, else kAllow
  };
  Type type = Type::kErrno;
  int errno_value = 0;
};

// A condition on one argument's low 32 bits: (argument & mask) is one of `values`; the kernel
// ignores the upper half of int arguments, so comparing it would let TIOCSTI | 1 << 32 pass.
// Without values: the argument, all 64 bits of it, is not zero.
struct CallTest {
  uint8_t arg = 0;
  uint32_t mask = 0xffffffff;
  std::span<const uint32_t> values;
};

// All tests hold ⇒ then. Cases are tried in order.
struct CallCase {
  std::span<const CallTest> tests;
  CallAction then;
};

struct CallRule {
  int number;
  const char* name;
  CallAction otherwise;             // where no case matches
  std::span<const CallCase> cases;  // mostly none
};

// Every system call of x86-64, sorted by number. What is not here gets ENOSYS, as from an older
// kernel, so that programs fall back.
std::span<const CallRule> call_rules();

struct FilterOptions {
  bool count_processes = false;  // fork, vfork and clone of processes are notified
  bool fixed_cpus = false;       // sched_setaffinity is refused
  bool count_written = false;    // fallocate is refused: it takes space that is counted for nobody
  bool count_memory = false;  // a thread gets no descriptors of its own: those of one are looked at
};

// At most BPF_MAXINSNS instructions. i386 and x32 calls kill the process.
std::vector<sock_filter> make_filter(const FilterOptions& options);

// True where some argument values of this call reach the supervisor: these are the rows that
// find_call() must have.
bool is_notified(const CallRule& rule, const FilterOptions& options);

}  // namespace bulkhead
