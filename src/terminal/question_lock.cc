#include "terminal/question_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace bulkhead {

QuestionLock::QuestionLock(const std::string& path, int terminal) {
  constexpr unsigned long kDevice = 0x80045432;  // TIOCGDEV
  static_cast<void>(ioctl(terminal, kDevice, &device_));
  if (!path.empty())
    file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

bool QuestionLock::take() {
  if (!file_) return true;
  // Another error than "held": a file system without locks.
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK && errno != EINTR;
  static_cast<void>(!pwrite(file_.get(), &device_, sizeof device_, 0));
  return true;
}

void QuestionLock::give_back() {
  if (file_) static_cast<void>(flock(file_.get(), LOCK_UN));
}

bool QuestionLock::others_ask_here() const {
  if (!file_) return false;
  if (flock(file_.get(), LOCK_SH | LOCK_NB) == 0) {
    static_cast<void>(flock(file_.get(), LOCK_UN));
    return false;
  }
  unsigned where = 0;
  return errno == EWOULDBLOCK && pread(file_.get(), &where, sizeof where, 0) == sizeof where &&
         where == device_;
}

}  // namespace bulkhead
