// What a process needs that has our memory and a stack of its own: between clone and its end only
// system calls are made, and no handler runs.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

// They run on stacks that no sanitizer knows.
#define BULKHEAD_ON_A_STACK_OF_ITS_OWN \
  __attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer's own clone tells the child's thread to be ignored from then on: with our memory,
// that is the calling thread.
extern "C" int __clone(int (*)(void*), void*, int, void*,
                       ...);  // NOLINT(bugprone-reserved-identifier)
#define clone __clone
#endif

namespace bulkhead {

using OwnStack = std::array<char, 16384>;

// All signals of this thread, those of libc's own included: a handler that ran in a child would run
// on the host's memory.
class BlockedSignals {
 public:
  BlockedSignals() {
    const uint64_t all = ~uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  ~BlockedSignals() {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace bulkhead
