// Walker: paths as the target sees them, resolved by the supervisor without a race: what it returns
// is a descriptor and the canonical path of exactly what that descriptor is.
//
// Three ways, the cheapest first:
//  1. A path without ".." that openat2(RESOLVE_NO_SYMLINKS) accepts is its own canonical path.
//  2. One with symlinks or "..": the kernel resolves it below the compartment's root, and
//     /proc/self/fd/N tells the canonical path.
//  3. One that meets /proc/self or a magic link (/proc/PID/fd/N, cwd, exe): the supervisor's own
//     would answer, so these are substituted component by component.
// A relative path is made absolute by the text of the caller's folder, so that a folder descriptor
// that leads outside of the compartment's mounts (an inherited one) means nothing but its name.
//
// What this does not do: judge. Every result is to be decided on by its canonical path. The
// functions return 0 or an errno value: they are on the hot path, and the errno is the answer.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/home/private_home.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

class Caller;

// What stands after the last name of a path.
enum class Tail : uint8_t { kName, kSlash, kDot, kDotDot };

// A path made absolute, not yet resolved: no "//", no "." components; ".." only where `parents`.
struct Spelling {
  std::string text;
  Tail tail = Tail::kName;
  bool parents = false;
  bool no_magic = false;  // RESOLVE_NO_MAGICLINKS: links that jump are an error
  bool folder() const { return tail != Tail::kName; }
};

// What a path names.
struct Found {
  Fd fd;                  // O_PATH; invalid where nothing is there
  std::string canonical;  // "/a/b"; or a name that is no path ("pipe:[7]", "/memfd:x (deleted)")
  bool is_path = true;    // false: `canonical` cannot be decided on, only `held` counts
  // Reached through a descriptor, by number or by /proc/PID/fd/N: its open flags. Opening it again
  // with no more access than it has gives nothing new.
  std::optional<int> held;
  mode_t type = 0;  // S_IF…; filled by Walker::look()
  uint64_t links = 0;
};

// The folder that holds (or will hold) a path's last component.
struct FoundEntry {
  Fd folder;                // O_PATH
  std::string canonical;    // of the entry: folder + "/" + name
  std::string name;         // with a trailing slash where the caller wrote one
  Tail tail = Tail::kName;  // kDot and kDotDot: there is no entry; canonical is the folder itself
};

enum class Follow : uint8_t { kYes, kNo };

class Walker {
 public:
  // `root`: O_PATH of "/" in the compartment's mount namespace (not owned). `foreign_proc`: where
  // proc file systems other than the compartment's own are mounted, canonical.
  Walker(int root, Processes& processes, std::vector<std::string> foreign_proc = {})
      : root_(root), processes_(processes), foreign_proc_(std::move(foreign_proc)) {}

  // The compartment has a home of its own: what is the program's by its name is found there alone,
  // whatever is mounted elsewhere by now. Before the first call; `home` outlives the walker.
  Status has_home(const PrivateHome& home);

  // Reads a path from the caller's memory.
  int read_path(const Caller& caller, uint64_t address, std::string* path) const;
  // Makes `path` absolute: by the caller's working folder or its descriptor `folder`.
  int spell(const Caller& caller, int folder, std::string_view path, Spelling* spelling) const;

  int resolve(const Caller& caller, const Spelling& spelling, Follow last, Found* found) const;
  // ENOENT with found->canonical set: nothing is there, but its folder is.
  static bool may_be_created(int error, const Found& found) {
    return error == ENOENT && !found.canonical.empty();
  }
  int resolve_entry(const Caller& caller, const Spelling& spelling, FoundEntry* entry) const;
  // What the caller's descriptor is, found again by its path where it has one in the compartment.
  int resolve_descriptor(const Caller& caller, int number, Found* found) const;
  // openat2 with the caller's own RESOLVE_* flags, below its own folder.
  int resolve_scoped(const Caller& caller, int folder, std::string_view path, uint64_t scope,
                     Follow last, Found* found) const;

  // Fills type and links.
  static int look(Found* found);
  // Opens a canonical path's file itself with `flags`: no symlink anywhere on it, and EXDEV where
  // what is the program's own by its name is not.
  int open_exact(const std::string& canonical, int flags, mode_t mode, Fd* fd) const;
  // Whether `fd`, opened by its canonical path since changes() was `before`, is what that path
  // names: a folder may have been moved away while the kernel was in it, and another file into it.
  bool is_named(int fd, const std::string& canonical, uint64_t before) const;
  // Whether no symlink stands on the way, so that the kernel would resolve the path to its own
  // text. For answering CONTINUE where Landlock decides: remembers for a second what it found, so
  // what somebody outside changes meanwhile is met by Landlock's refusal instead of the supervisor.
  // kMissing: nothing is there, ENOENT; kBarred: something else would be the kernel's answer.
  enum class Way : uint8_t { kClear, kMissing, kBarred, kSymlink };
  Way way_to(const Spelling& spelling, Follow last) const;
  // A name was changed: way_to() forgets.
  uint64_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }
  void note_change() const noexcept { changes_.fetch_add(1, std::memory_order_relaxed); }

  // Gives back what is kept for calls that follow soon: none does.
  void rest() const {
    clear_.clear();
    folders_.clear();
  }

  // Inside a proc file system of somebody else.
  bool is_foreign_proc(std::string_view canonical) const noexcept;
  int root() const noexcept { return root_; }
  Processes& processes() const noexcept { return processes_; }

 private:
  int walk(const Caller& caller, const Spelling& spelling, Follow last, Found* found) const;
  int resolve_unbounded(const Caller& caller, int folder, std::string_view path, uint64_t scope,
                        const Found& start, Follow last, Found* found) const;
  int follow_magic(const Caller& caller, const std::string& link, int link_fd, bool last,
                   std::string* target, Found* found) const;
  int resolve_held(pid_t tid, int number, Found* found) const;
  int find_again(std::string text, Fd fd, Found* found) const;
  int name_found(Found* found) const;
  int refuse_strayed(const Found& found) const;

  int root_;
  Processes& processes_;
  std::vector<std::string> foreign_proc_;
  const PrivateHome* home_ = nullptr;
  Fd home_folder_;  // its own, in the compartment
  uint64_t home_mount_ = 0;

  // Paths on which no symlink was found a moment ago.
  class ClearPaths {
   public:
    struct Since {
      uint64_t changes = 0;
      int64_t second = 0;
      friend bool operator==(const Since&, const Since&) = default;
    };
    bool holds(std::string_view text, const Since& since) const;
    void add(std::string_view text, const Since& since);
    void clear();

   private:
    static constexpr size_t kEntries = 1024;
    struct Entry {
      std::string text;
      Since since;
    };
    static size_t index_of(std::string_view text) {
      return std::hash<std::string_view>()(text) % kEntries;
    }
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;  // none until the first is added
  };
  mutable std::atomic<uint64_t> changes_ = 0;
  mutable ClearPaths clear_;

  // The working folders of threads that name files by them again and again: /proc/TID/cwd stays
  // open, which saves the way to it, half of what asking costs. It is the thread's and not its
  // number's: of the next one that has the number it tells nothing.
  class FolderLinks {
   public:
    int read(pid_t tid, std::string* text);  // as read_proc_link()
    void clear();

   private:
    struct Entry {
      pid_t tid = 0;
      Fd link;  // not of those that have asked only once
    };
    std::mutex mutex_;
    std::array<Entry, 32> entries_;
  };
  mutable FolderLinks folders_;
};

// "/proc/PID/rest" → PID and rest ("" or "/rest"); nullopt for other paths.
struct ProcPlace {
  pid_t inner_process = 0;
  std::string_view rest;
};
std::optional<ProcPlace> parse_proc(std::string_view canonical) noexcept;

// Where proc file systems are mounted besides /proc, from the text of /proc/PID/mountinfo.
std::vector<std::string> foreign_proc_mounts(std::string_view mountinfo);

}  // namespace bulkhead
