// SpareFolders: folders that wait beside the store of a private home until the program makes one
// right below its home folder, where no other rule of Landlock's holds. Rules cannot be added once
// the program runs, but they stay with a folder that is renamed: so these have one from the start,
// each becomes the program's own by its new name, and programs that are put there start at once.
//
// Those who share a store share these: each has a rule of every one. Thread-safe.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/home/private_home.h"

namespace bulkhead {

inline constexpr int kSpareFolders = 24;
std::string spare_name(int i);

// Beside the store, so that it is on its file system and nothing of it is in the home.
std::string spare_of(const std::string& store);
// Makes those that are missing.
Status make_spare(const std::string& store);

class SpareFolders {
 public:
  explicit SpareFolders(const PrivateHome& home);

  // Makes the folder `path` (canonical, the program's own) of a spare one, with that mode.
  // `parent`: what it is to be in. 0, or an errno; ENOENT where none is left, or none can come
  // there.
  int put(int parent, const std::string& path, mode_t mode);
  // Whether one was put at `path` or above.
  bool holds(std::string_view path) const;
  // A folder with a rule of its own has another name from now on.
  void note_move(const std::string& to);

 private:
  const PrivateHome& home_;
  Fd spare_, store_;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> places_;
};

}  // namespace bulkhead
