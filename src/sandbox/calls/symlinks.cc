#include "sandbox/calls/symlinks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>

#include "base/fd.h"
#include "base/path.h"

namespace bulkhead {

namespace {

constexpr size_t kMostEntries = 200'000;
constexpr int kDeepest = 200;  // a descriptor is open for each folder on the way

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

struct Walk {
  const VisitLink& visit;
  size_t entries = 0;
  bool ended = false;
};

int read_target(int folder, const char* name, std::string* target) {
  char text[PATH_MAX];
  const ssize_t n = ::readlinkat(folder, name, text, sizeof text);
  if (n < 0) return errno;
  target->assign(text, static_cast<size_t>(n));
  return 0;
}

int walk(Walk& state, int parent, const char* name, const std::string& path, int depth) {
  if (depth > kDeepest) return EXDEV;
  Fd opened(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return errno;
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(opened.get()));
  if (!folder) return errno;
  const int fd = opened.release();
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) return errno;
    const std::string_view own(entry->d_name);
    if (own == "." || own == "..") continue;
    if (++state.entries > kMostEntries) return EXDEV;
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN) {
      struct stat about {};
      if (::fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) return errno;
      type = static_cast<unsigned char>(IFTODT(about.st_mode));
    }
    const std::string here = path.empty() ? std::string(own) : path + "/" + std::string(own);
    int error = 0;
    if (type == DT_LNK) {
      std::string target;
      error = read_target(fd, entry->d_name, &target);
      if (error == 0 && !state.visit(here, target)) state.ended = true;
    } else if (type == DT_DIR) {
      error = walk(state, fd, entry->d_name, here, depth + 1);
    }
    if (error != 0 || state.ended) return error;
  }
}

}  // namespace

bool climbs_from_a_name(std::string_view target) {
  bool named = false;
  while (!target.empty()) {
    const std::string_view each = take_component(&target);
    if (each == "..") {
      if (named) return true;
    } else if (!each.empty() && each != ".") {
      named = true;
    }
  }
  return false;
}

bool stays_in_tree(std::string_view target, size_t depth) {
  if (target.starts_with('/') || climbs_from_a_name(target)) return false;
  while (!target.empty()) {
    const std::string_view each = take_component(&target);
    if (each == ".." && depth-- == 0) return false;
    if (each != ".." && each != "." && !each.empty()) break;
  }
  return true;
}

int for_each_symlink(int folder, const char* name, const VisitLink& visit) {
  struct stat about {};
  if (::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (S_ISLNK(about.st_mode)) {
    std::string target;
    if (const int error = read_target(folder, name, &target); error != 0) return error;
    (void)visit("", target);
    return 0;
  }
  if (!S_ISDIR(about.st_mode)) return 0;
  Walk state{visit};
  return walk(state, folder, name, "", 0);
}

}  // namespace bulkhead
