// Where a path leads once its symbolic links are followed, whether or not it exists. Reads the
// file system; used while a policy is compiled, never while one decides.
#pragma once

#include <string>

namespace bulkhead {

// Like `realpath -m`: a part that does not exist is kept as written, and a dangling link leads to
// where its target would be. `path` is canonical in form. Returns `path` itself where there is a
// loop or the file system cannot say.
std::string follow_links(const std::string& path);

}  // namespace bulkhead
