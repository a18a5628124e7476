// The signal that ends a blocking system call of one of our threads, and does nothing else: what
// blocks in an open of a FIFO, a connection or the close of a socket (SO_LINGER) is interrupted by
// nothing but a signal that has a handler.
//
// A handler is the whole process's, and this is the one thing of a host's process that changes: of
// the real-time signals the highest whose disposition is the default's when it is asked for first.
// It is kept from then on, because whoever gave it back would take it from other compartments'
// threads, and it is sent to our own threads alone, which are the only ones that need not block it.
#pragma once

#include <pthread.h>
#include <signal.h>

#include "base/result.h"

namespace bulkhead {

// Takes the signal, once in a process. Call before a thread that is to be interrupted starts.
Status take_interrupt();
// Its number; 0: not taken.
int interrupt_signal() noexcept;
// Interrupts what this thread does now, if that blocks; again, where it began to block just after.
void interrupt(pthread_t thread) noexcept;

// While one lives, a thread that this one starts handles no signal but that: it inherits the mask.
class MaskForThreads {
 public:
  MaskForThreads();
  ~MaskForThreads();
  MaskForThreads(const MaskForThreads&) = delete;
  MaskForThreads& operator=(const MaskForThreads&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace bulkhead
