// Fd: a descriptor that has exactly one owner. No naked int in this tree owns a descriptor.
//
// None is 0, 1 or 2: a host may have closed those, and what was opened there would be taken for
// standard input or output, by the host or by a program that it starts. A descriptor that comes
// with such a number is given another; where there is none left it is closed, with EMFILE in errno.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace bulkhead {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(above_stdio(fd)) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  explicit operator bool() const noexcept { return valid(); }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = above_stdio(fd);
  }

 private:
  static int above_stdio(int fd) noexcept { return fd < 0 || fd > STDERR_FILENO ? fd : lifted(fd); }
  static int lifted(int fd) noexcept;

  int fd_ = -1;
};

// The whole content of a file of at most `limit` bytes; an error beyond that.
Result<std::string> read_file(const std::string& path, size_t limit);

// Writes the file beside its final name, syncs and renames it: never half written.
// mode is applied as given (no umask).
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode);

// mkdir -p; new folders get `mode`.
Status make_directories(const std::string& path, unsigned mode);

}  // namespace bulkhead
