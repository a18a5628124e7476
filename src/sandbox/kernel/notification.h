// The kernel's seccomp user notification interface (seccomp_unotify(2)), behind one class.
//
// What this does not stop: a notified call that is answered CONTINUE reads its arguments again,
// so another thread may have changed them. Only answer CONTINUE where Landlock, or the
// registers alone, decide.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

struct Notification {
  uint64_t id = 0;
  pid_t tid = 0;   // a thread id, in the supervisor's pid namespace
  int number = 0;  // __NR_*
  std::array<uint64_t, 6> args{};
};

// What the supervisor answers. Made only by the named functions.
class Reply {
 public:
  static Reply go_on() { return Reply(Type::kContinue); }  // let the kernel execute the call
  static Reply error(int errno_value) {
    Reply r(Type::kValue);
    r.error_ = errno_value;
    return r;
  }
  static Reply value(int64_t result) {
    Reply r(Type::kValue);
    r.value_ = result;
    return r;
  }
  // Gives `fd` to the caller as the call's result (lowest free number). `alone`: ours is closed
  // before the call returns. That takes a further switch to the caller and back, so it is for where
  // somebody could tell: writers of a file that is executed next, ends of a FIFO, locks.
  static Reply descriptor(Fd fd, bool close_on_exec, bool alone) {
    Reply r(Type::kDescriptor);
    r.alone_ = alone;
    r.fd_ = std::move(fd);
    r.close_on_exec_ = close_on_exec;
    return r;
  }
  // Not answerable from the serving thread (it would wait for a person, a FIFO, a connection): the
  // supervisor runs the handler again, whole, on a thread that may block (Call::may_block()).
  static Reply later() { return Reply(Type::kLater); }
  // Somebody else answers (kept by the handler, e.g. until a connection is made).
  static Reply taken() { return Reply(Type::kTaken); }

  enum class Type : uint8_t { kContinue, kValue, kDescriptor, kLater, kTaken };
  Type type() const { return type_; }
  int errno_value() const { return error_; }
  int64_t result() const { return value_; }
  bool close_on_exec() const { return close_on_exec_; }
  bool alone() const { return alone_; }
  Fd& fd() { return fd_; }

 private:
  explicit Reply(Type type) : type_(type) {}
  Type type_;
  bool close_on_exec_ = false;
  bool alone_ = false;
  int error_ = 0;
  int64_t value_ = 0;
  Fd fd_;
};

// Thread-safe: the serving thread receives, any thread may send.
class Listener {
 public:
  explicit Listener(Fd fd);
  // Waits for the next notification. nullopt: interrupted by a signal, or the one that woke us is
  // gone. After the last process died that is at once and forever: the caller polls for POLLHUP.
  Result<std::optional<Notification>> receive();
  // False where the caller is dead: nothing else takes back a call that was received
  // (WAIT_KILLABLE_RECV). What was done for it stays, as what the kernel does for a caller that is
  // killed meanwhile, so nothing has to be undone; it must only not be left half done.
  bool send(const Notification& notification, Reply reply);
  // Puts `socket` in place of the caller's descriptor `number`, before the call is answered. 0 or
  // errno.
  int replace(const Notification& notification, int socket, int number, bool close_on_exec);
  // Must hold after every read of the target's memory and every open below /proc/TID.
  bool still_valid(const Notification& notification) const;
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

// Memory of a stopped caller, to be read. Pure of policy.
class TargetMemory {
 public:
  virtual ~TargetMemory() = default;
  // Exactly `size` bytes, or EFAULT.
  virtual Status read(uint64_t address, void* into, size_t size) const = 0;
  // A NUL-terminated string of at most `limit` bytes; ENAMETOOLONG beyond, EFAULT where unmapped.
  virtual Result<std::string> read_string(uint64_t address, size_t limit) const = 0;
};

// By process_vm_readv and process_vm_writev, page by page. For one thread, as a call is served.
class ProcessMemory final : public TargetMemory {
 public:
  explicit ProcessMemory(pid_t tid) : tid_(tid) {}
  Status read(uint64_t address, void* into, size_t size) const override;
  // Whoever has the number now: Call::write() asks first.
  Status write(uint64_t address, const void* from, size_t size) const;
  Result<std::string> read_string(uint64_t address, size_t limit) const override;
  // The kernel refused: not an address was wrong, but the process is not ours to look into.
  bool refused() const { return refused_; }

 private:
  Error failed(ssize_t n, const char* what) const;  // `n`: what the call returned

  pid_t tid_;
  mutable bool refused_ = false;
};

}  // namespace bulkhead
