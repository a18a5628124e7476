// DigestCache: digests of files that have not changed since they were last read. A file of our own,
// out of reach of every compartment; whatever is wrong with it, it is as if it were empty.
#pragma once

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead {

using Digest = std::array<unsigned char, 32>;

// What changes when a file's content does: ctime is the kernel's own and no
// call sets it (inode(7)).
struct FileKey {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0, changed = 0;  // nanoseconds
  friend bool operator==(const FileKey&, const FileKey&) = default;
  // clang-tidy 14 takes the 0 that a defaulted <=> is compared with for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FileKey&, const FileKey&) = default;
};
FileKey key_of(const struct stat& status);

class DigestCache {
 public:
  // Loads `file`; empty: remembers nothing. A file that changed less than `settle` ago is not
  // remembered: it may change again within one tick of the file system's clock.
  DigestCache(std::string file, std::chrono::nanoseconds settle);

  // Marks what it finds as still in use. The pointer is good until the next add().
  const Digest* find(const FileKey& key);
  void add(const FileKey& key, const Digest& digest);
  // Writes what was used and added, where that differs from what was loaded. A cache that cannot
  // be written costs time, so that is no error.
  void save();

 private:
  struct Record {
    FileKey key;
    Digest digest;
    bool used = false;
  };
  void load();

  std::string file_;
  int64_t settled_before_ = 0;   // ctime in nanoseconds
  std::vector<Record> records_;  // sorted by key
  std::vector<Record> added_;
};

}  // namespace bulkhead
