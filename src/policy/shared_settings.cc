#include "policy/shared_settings.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "base/fd.h"
#include "base/path.h"

namespace bulkhead {
namespace {

constexpr size_t kMostThere = size_t{512} << 10U;

// FNV-1a, in what git and npm take for a comment.
std::string with_mark(const std::string& settings) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : settings) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("# The user's settings, as long as nothing else is changed here ({:016x})\n{}",
                     hash, settings);
}

// The store's file; empty where there is no file that a program may have made for itself.
std::string text_there(int folder, const char* name) {
  const Fd file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(std::min(static_cast<size_t>(status.st_size), kMostThere), '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

// What a program has set for itself is its own to keep.
bool is_as_shared(const std::string& there) {
  const size_t end = there.find('\n');
  return end != std::string::npos && there == with_mark(there.substr(end + 1));
}

}  // namespace

std::optional<std::string> read_settings(const std::string& file, size_t most) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  auto text = read_file(file, most);
  if (!text.ok()) return std::nullopt;
  return std::move(text).value();
}

Status share_settings(const std::string& settings, const std::string& store, const char* name) {
  const Fd folder(::open(store.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return errno_error("open " + store);
  if (settings.empty()) return {};
  const std::string text = with_mark(settings), there = text_there(folder.get(), name);
  if (there == text || (!there.empty() && !is_as_shared(there))) return {};
  const std::string beside = fmt::format("{}.{}", name, ::getpid());
  (void)::unlinkat(folder.get(), beside.c_str(), 0);
  const Fd file(::openat(folder.get(), beside.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno_error("make " + join(store, beside));
  const bool written =
      ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written || ::renameat(folder.get(), beside.c_str(), folder.get(), name) != 0) {
    const int error_number = errno;
    Error error = errno_error("write " + join(store, name));
    (void)::unlinkat(folder.get(), beside.c_str(), 0);
    if (!written || error_number != EISDIR) return error;
  }
  return {};
}

}  // namespace bulkhead
