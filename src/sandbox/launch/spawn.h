// Spawn: init's process, made without a copy of the host: it has the host's memory until it
// executes bulkhead-init, a moment in which the calling thread waits and all others go on.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/launch/own_stack.h"

namespace bulkhead {

class Spawn {
 public:
  // `descriptors` become init's, the first as kControl, the others behind (init.h).
  Spawn(int image, std::vector<int> descriptors)
      : image_(image), descriptors_(std::move(descriptors)) {}
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // The first process of new user, mount, pid, network and IPC namespaces, our own child; its
  // pidfd in `pidfd`. An error's message is the step. Nobody runs on this object's memory once it
  // has returned, whoever was killed meanwhile.
  Result<pid_t> start(Fd& pidfd);

 private:
  // Each in a process of its own that has our memory: only system calls, nothing of libc's but
  // errno, which is the waiting thread's.
  static int make_init(void* spawn) noexcept;
  static int become_init(void* spawn) noexcept;
  void fail(const char* step) noexcept;
  bool place_descriptors() noexcept;
  static bool halve(int what, const rlimit& limit) noexcept;
  static bool keep_capabilities_at_execve() noexcept;

  int image_;
  const std::vector<int> descriptors_;
  rlimit queues_{}, signals_{};
  alignas(16) OwnStack stack_of_maker_;
  alignas(16) OwnStack stack_of_init_;
  // What they tell.
  volatile pid_t init_ = -1;
  volatile bool executes_ = false;  // init, or it has ended
  const char* volatile step_ = nullptr;
  volatile int error_ = 0;
};

}  // namespace bulkhead
