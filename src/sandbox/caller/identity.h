// What a serving thread borrows from the caller while it works for it, so that files get the owner,
// mode and refusals that they would have got without a supervisor. Each thread on its own: the
// kernel keeps identity and umask per thread, glibc's wrappers would change them for all.
#pragma once

#include "sandbox/kernel/processes.h"

namespace bulkhead {

// From here to the end of its life, this thread, which has an umask of its own, creates files with
// that umask (default ACLs need the kernel to apply it). Others' calls, launches and the host's
// judge follow on the same thread.
class BorrowedUmask {
 public:
  explicit BorrowedUmask(mode_t mask) noexcept;
  ~BorrowedUmask();
  BorrowedUmask(const BorrowedUmask&) = delete;
  BorrowedUmask& operator=(const BorrowedUmask&) = delete;

 private:
  const mode_t before_;
};

// From here to the end of its life, this thread opens files as `as` would, who may have dropped
// capabilities, and is `as` to whoever asks a socket for its peer (SO_PEERCRED). Only root can; for
// an ordinary user every process of the compartment is that user.
class BorrowedIdentity {
 public:
  explicit BorrowedIdentity(const ThreadStatus& as);
  // False: the caller's identity cannot be borrowed, so nothing may be done for it.
  bool ok() const noexcept { return ok_; }
  ~BorrowedIdentity();
  BorrowedIdentity(const BorrowedIdentity&) = delete;
  BorrowedIdentity& operator=(const BorrowedIdentity&) = delete;

 private:
  bool borrowed_ = false;
  bool ok_ = true;
};

}  // namespace bulkhead
