#include "base/fd.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

namespace bulkhead {

int Fd::lifted(int fd) noexcept {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int why = errno;
  ::close(fd);
  errno = why;
  return copy;
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return errno_error("open " + path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return errno_error("stat " + path);
  if (S_ISDIR(status.st_mode)) return errno_error("read " + path, EISDIR);
  // A pipe that nobody has written to yet would look empty.
  if (!S_ISREG(status.st_mode))
    return Error{fmt::format("cannot read {}: not a regular file", path), EINVAL};
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("read " + path);
    if (n == 0) return content;
    if (content.size() + static_cast<size_t>(n) > limit)
      return Error{fmt::format("cannot read {}: larger than {} bytes", path, limit), EFBIG};
    content.append(buffer, static_cast<size_t>(n));
  }
}

Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  std::string temporary = path + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return errno_error("create a file beside " + path);
  auto fail = [&](const char* verb) {
    Error error = errno_error(fmt::format("{} {}", verb, temporary));
    ::unlink(temporary.c_str());
    return error;
  };
  if (::fchmod(fd.get(), mode) != 0) return fail("set the mode of");
  while (!content.empty()) {
    const ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("write");
    content.remove_prefix(static_cast<size_t>(n));
  }
  if (::fsync(fd.get()) != 0) return fail("sync");
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail("rename");
  return {};
}

Status make_directories(const std::string& path, unsigned mode) {
  for (size_t i = 1; i <= path.size(); ++i) {
    if (i != path.size() && path[i] != '/') continue;
    const std::string prefix = path.substr(0, i);
    if (::mkdir(prefix.c_str(), mode) != 0 && errno != EEXIST)
      return errno_error("create the folder " + prefix);
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno_error("stat " + path);
  if (!S_ISDIR(status.st_mode)) return errno_error("use " + path + " as a folder", ENOTDIR);
  return {};
}

}  // namespace bulkhead
