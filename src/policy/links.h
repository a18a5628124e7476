// Where a path leads once its symbolic links are followed, whether or not it exists. Reads the
// file system; used while a policy is compiled, never while one decides. The editor's broker asks
// too, for each file of an edit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// True: the path is canonical, no part of it is a link, and from the first part on that is not
// there nothing is. One system call. False: that takes a walk to tell.
bool has_no_links(const std::string& path);

// Like `realpath -m`: a part that does not exist is kept as written, and a dangling link leads to
// where its target would be. `path` is canonical in form. Returns `path` itself where there is a
// loop or the file system cannot say.
std::string follow_links(const std::string& path);
// And by which links, by their canonical names, in their order.
std::string follow_links(const std::string& path, std::vector<std::string>& passed);

// Every name that the kernel looks at on the way to an absolute path's file and that could be a
// link then: the path itself, what links on it say, the canonical file. Folders above these are
// implied. Empty where there are too many links.
std::vector<std::string> names_on_the_way(const std::string& path);

// The same less what nobody changes, in /proc and /dev. Whoever may change what one of these stands
// for has another file found. A folder that the path goes up from is not told.
std::vector<std::string> names_of(const std::string& path);

// The same for many paths at one moment: most of a blocklist stands below folders that are not
// there, and most of the rest is not there itself. Both are found out once for each folder: whether
// it is there, and then, by listing it, which of the names asked for it can hold.
class LinkFollower {
 public:
  enum class State : uint8_t {
    kThere,    // no link on the way
    kMissing,  // no link before the part that is missing
    kLinked,   // a link on the way, or nothing that can be said
  };
  // Of a path that is canonical in form. Cheap.
  State state(std::string_view path);
  std::string follow(const std::string& path);

 private:
  // By hash, so that a name may be taken for another one: kNoLink may be missing. What leads
  // elsewhere is never taken for anything but kUnknown.
  enum class Entry : uint8_t { kUnknown, kMissing, kNoLink };
  struct Folder {
    State state = State::kLinked;
    bool listed = false;                 // `names` and `links` tell, unless they are empty
    size_t asked = 0;                    // names so far
    size_t list_at = SIZE_MAX;           // list when so many have been asked for
    std::vector<uint64_t> names, links;  // bits of the names that are there, and of links
  };
  Folder& folder(std::string_view path);
  State look(std::string_view path);
  static Entry entry(Folder& in, std::string_view path, std::string_view name);

  std::map<std::string, Folder, std::less<>> folders_;
  std::string last_path_;  // that was asked for last, of last_
  Folder* last_ = nullptr;
};

}  // namespace bulkhead
