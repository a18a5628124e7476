#include "sandbox/kernel/notification.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bulkhead {

namespace {

// linux/seccomp.h since 6.6; Debian 12 ships older headers. Makes the kernel keep both sides of a
// synchronous exchange on one core: a third of the cost of a CONTINUE on a virtual machine.
constexpr uint64_t kSyncWakeUp = 1UL << 0;
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);

constexpr uint64_t kPage = 4096;

// The kernel's structures may be larger than the header's (seccomp_unotify(2): allocate what
// SECCOMP_GET_NOTIF_SIZES says); it refuses no smaller ones, it writes past them.
size_t notification_size() {
  static const size_t size = [] {
    struct seccomp_notif_sizes sizes {};
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return sizeof(seccomp_notif);
    return std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif));
  }();
  return size;
}

size_t response_size() {
  static const size_t size = [] {
    struct seccomp_notif_sizes sizes {};
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
      return sizeof(seccomp_notif_resp);
    return std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp));
  }();
  return size;
}

constexpr size_t kLargest = 512;  // far above today's 80 and 24

// 0, or errno: EINPROGRESS and EBUSY cannot happen here (each notification is answered by one
// thread), ENOENT means that the caller is gone.
int answer(int listener, uint64_t id, int64_t value, int error, uint32_t flags) {
  alignas(8) char buffer[kLargest];
  std::memset(buffer, 0, std::min(response_size(), kLargest));
  auto* response = new (buffer) seccomp_notif_resp{};
  response->id = id;
  response->val = error == 0 ? value : 0;
  response->error = -error;
  response->flags = flags;
  while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, response) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Installs `fd` in the caller. Returns the number there, or -errno.
int add_descriptor(int listener, uint64_t id, int fd, bool close_on_exec, uint32_t flags,
                   int number) {
  struct seccomp_notif_addfd request {};
  request.id = id;
  request.flags = flags;
  request.srcfd = static_cast<uint32_t>(fd);
  request.newfd = flags & SECCOMP_ADDFD_FLAG_SETFD ? static_cast<uint32_t>(number) : 0;
  request.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  for (;;) {
    const int result = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &request);
    if (result >= 0) return result;
    // EINPROGRESS: the caller has not finished with an earlier descriptor; it is about to.
    if (errno != EINTR && errno != EINPROGRESS) return -errno;
  }
}

}  // namespace

Listener::Listener(Fd fd) : fd_(std::move(fd)) {
  // Refused by kernels before 6.6, which is only slower.
  (void)ioctl(fd_.get(), kSetFlags, kSyncWakeUp);
}

Result<std::optional<Notification>> Listener::receive() {
  alignas(8) char buffer[kLargest];
  const size_t size = notification_size();
  if (size > sizeof buffer)
    return Error{"cannot receive notifications: this kernel's are larger than known", E2BIG};
  std::memset(buffer, 0, size);  // EINVAL otherwise
  auto* request = new (buffer) seccomp_notif{};
  if (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, request) != 0) {
    // ENOENT: the caller died between waking us and here, or the filter has no user left; the
    // supervisor tells these apart by the compartment's state, and polls before it calls again.
    if (errno == EINTR || errno == ENOENT) return std::optional<Notification>();
    return errno_error("receive a notification");
  }
  Notification result;
  result.id = request->id;
  result.tid = static_cast<pid_t>(request->pid);
  result.number = request->data.nr;
  for (size_t i = 0; i < result.args.size(); ++i) result.args[i] = request->data.args[i];
  return std::optional<Notification>(result);
}

bool Listener::send(const Notification& notification, Reply reply) {
  switch (reply.type()) {
    case Reply::Type::kContinue:
      return answer(fd(), notification.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE) == 0;
    case Reply::Type::kValue:
      return answer(fd(), notification.id, reply.result(), reply.errno_value(), 0) == 0;
    case Reply::Type::kDescriptor: {
      // Between two steps only a deadly signal can interrupt the caller (WAIT_KILLABLE_RECV), so
      // the descriptor cannot be left over there.
      const int result =
          add_descriptor(fd(), notification.id, reply.fd().get(), reply.close_on_exec(),
                         reply.alone() ? 0 : SECCOMP_ADDFD_FLAG_SEND, 0);
      if (result == -ENOENT) return false;
      if (result >= 0 && reply.alone()) {
        reply.fd().reset();
        return answer(fd(), notification.id, result, 0, 0) == 0;
      }
      if (result >= 0) return true;
      // The caller's table is full (EMFILE), or something of ours failed: say so instead of leaving
      // the caller waiting.
      (void)answer(fd(), notification.id, 0, -result, 0);
      return false;
    }
    case Reply::Type::kLater:
    case Reply::Type::kTaken:
      return true;
  }
  return false;
}

int Listener::replace(const Notification& notification, int socket, int number,
                      bool close_on_exec) {
  // With ADDFD_FLAG_SEND the call would return the descriptor's number instead of 0.
  const int result = add_descriptor(fd(), notification.id, socket, close_on_exec,
                                    SECCOMP_ADDFD_FLAG_SETFD, number);
  if (result >= 0) return 0;
  // Closing what is nobody else's must not wait for the other end, as its owner may have asked.
  const linger off{};
  (void)::setsockopt(socket, SOL_SOCKET, SO_LINGER, &off, sizeof off);
  return -result;
}

bool Listener::still_valid(const Notification& notification) const {
  uint64_t id = notification.id;
  return ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

Error ProcessMemory::failed(ssize_t n, const char* what) const {
  refused_ = refused_ || (n < 0 && errno == EPERM);
  return {what, EFAULT};
}

Status ProcessMemory::read(uint64_t address, void* into, size_t size) const {
  const iovec local = {into, size};
  const iovec remote = {reinterpret_cast<void*>(address), size};
  const ssize_t n = process_vm_readv(tid_, &local, 1, &remote, 1, 0);
  if (n != static_cast<ssize_t>(size)) return failed(n, "cannot read the caller's memory");
  return {};
}

Status ProcessMemory::write(uint64_t address, const void* from, size_t size) const {
  const iovec local = {const_cast<void*>(from), size};
  const iovec remote = {reinterpret_cast<void*>(address), size};
  const ssize_t n = process_vm_writev(tid_, &local, 1, &remote, 1, 0);
  if (n != static_cast<ssize_t>(size)) return failed(n, "cannot write the caller's memory");
  return {};
}

Result<std::string> ProcessMemory::read_string(uint64_t address, size_t limit) const {
  char buffer[kPage];
  std::string text;
  // The first bite is small because most paths are; none crosses a page, because the next one may
  // not be mapped although the string ends before it.
  size_t bite = 256;
  while (text.size() < limit) {
    const size_t size = std::min({bite, kPage - address % kPage, limit - text.size()});
    const iovec local = {buffer, size};
    const iovec remote = {reinterpret_cast<void*>(address), size};
    const ssize_t n = process_vm_readv(tid_, &local, 1, &remote, 1, 0);
    if (n <= 0) return failed(n, "cannot read a path from the caller's memory");
    const auto got = static_cast<size_t>(n);
    if (const void* end = std::memchr(buffer, 0, got)) {
      text.append(buffer, static_cast<size_t>(static_cast<const char*>(end) - buffer));
      return text;
    }
    text.append(buffer, got);
    address += got;
    bite = kPage;
  }
  return Error{"a path is too long", ENAMETOOLONG};
}

}  // namespace bulkhead
