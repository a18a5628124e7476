#include "sandbox/network/inside_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

namespace bulkhead {

InsideSockets::InsideSockets(int init) : init_(::fcntl(init, F_DUPFD_CLOEXEC, 3)) {}

Result<Fd> InsideSockets::take() {
  if (spare_.empty()) BULKHEAD_CHECK(make_some());
  Fd one = std::move(spare_.back());
  spare_.pop_back();
  return one;
}

Status InsideSockets::make_some() {
  count_ = 0;
  step_ = nullptr;
  {
    const BlockedSignals blocked;
    // Told to nobody when it ends. Of descriptors it has our table: what it makes is ours.
    const pid_t maker =
        ::clone(make, stack_.data() + stack_.size(), CLONE_VM | CLONE_VFORK | CLONE_FILES, this);
    if (maker < 0) return errno_error("clone a process that makes sockets in the compartment");
    while (::waitpid(maker, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  for (size_t i = 0; i < count_; ++i) spare_.emplace_back(made_[i]);
  std::erase_if(spare_, [](const Fd& fd) { return !fd; });
  if (!spare_.empty()) return {};
  return errno_error(step_ != nullptr ? step_ : "make sockets in the compartment",
                     step_ != nullptr ? int{error_} : EINTR);
}

BULKHEAD_ON_A_STACK_OF_ITS_OWN int InsideSockets::make(void* sockets) noexcept {
  auto& self = *static_cast<InsideSockets*>(sockets);
  const auto fail = [&self](const char* step) BULKHEAD_ON_A_STACK_OF_ITS_OWN {
    self.error_ = errno;
    self.step_ = step;
    return 1;
  };
  if (::syscall(SYS_setns, self.init_.get(), CLONE_NEWUSER | CLONE_NEWNET) != 0)
    return fail("enter the compartment's network");
  for (size_t i = 0; i < kAtOnce; ++i) {
    constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    long fd = ::syscall(SYS_socket, AF_INET6, kType, 0);
    if (fd < 0 && errno == EAFNOSUPPORT) fd = ::syscall(SYS_socket, AF_INET, kType, 0);
    if (fd < 0) return fail("make a socket in the compartment");
    self.made_[i] = static_cast<int>(fd);
    self.count_ = i + 1;
  }
  return 0;
}

}  // namespace bulkhead
