// InsideSockets: TCP sockets in a compartment's network namespace, where nothing of ours runs.
//
// A socket belongs to the namespace that it was made in. So a process of our own goes there for a
// moment: it has our memory and our descriptors, enters the compartment's user namespace, whose
// owner we are, and its network namespace, makes some sockets and ends. Nothing inside can see it,
// since it stays in our pid namespace, and nothing of ours has changed afterwards.
#pragma once

#include <array>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/launch/own_stack.h"

namespace bulkhead {

class InsideSockets {
 public:
  // `init`: the pidfd of the compartment's first process. A copy is kept.
  explicit InsideSockets(int init);
  InsideSockets(const InsideSockets&) = delete;
  InsideSockets& operator=(const InsideSockets&) = delete;

  // Not connected, O_NONBLOCK. Of IPv6 for both families where the kernel has that, else of IPv4.
  // By one thread at a time.
  Result<Fd> take();

 private:
  static constexpr size_t kAtOnce = 16;
  Status make_some();
  static int make(void* self) noexcept;

  const Fd init_;
  std::vector<Fd> spare_;
  alignas(16) OwnStack stack_;
  // What the process that makes them tells.
  std::array<int, kAtOnce> made_{};
  volatile size_t count_ = 0;
  const char* volatile step_ = nullptr;
  volatile int error_ = 0;
};

}  // namespace bulkhead
