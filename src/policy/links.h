// Where a path leads once its symbolic links are followed, whether or not it exists. Reads the
// file system; used while a policy is compiled, never while one decides.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace bulkhead {

// Like `realpath -m`: a part that does not exist is kept as written, and a dangling link leads to
// where its target would be. `path` is canonical in form. Returns `path` itself where there is a
// loop or the file system cannot say.
std::string follow_links(const std::string& path);

// The same for many paths at one moment: most of a blocklist stands below folders that are not
// there, which is found out once for each folder.
class LinkFollower {
 public:
  std::string follow(const std::string& path);

 private:
  enum class Folder : uint8_t {
    kThere,    // no link on the way
    kMissing,  // no link before the part that is missing
    kLinked,   // a link on the way, or nothing that can be said
  };
  Folder look(const std::string& path);
  std::unordered_map<std::string, Folder> folders_;
};

}  // namespace bulkhead
