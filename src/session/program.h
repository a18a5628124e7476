// Program: what a command line starts, whose permissions that needs, and which folder is its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/programs.h"

namespace bulkhead {

struct Program {
  std::string path;       // absolute, as found: a symlink or script is executed by this name
  std::string canonical;  // without symlinks
  // Whose run it is: the program, or the script that a known interpreter is given.
  std::string subject;
  // What answers are remembered for, so that "always" for one script is not "always" for whatever
  // node runs: the subject; the whole command line where that holds the code (`sh -c …`); empty,
  // so for nothing beyond the run, where neither says what runs (standard input).
  std::string answers_for;
  // ${extension}: the outermost node_modules that the subject lies in (its dependencies are there
  // too), else the nearest folder with a package.json, else the subject alone. Never
  // somebody's home folder, one above it or one that all share, nor a folder of programs such as
  // /usr/bin.
  std::string own_folder;
};

// `command` holds at least a name. `folder` is the working folder, `search_path` the folders of
// PATH, `homes` those of find_homes(). Errors carry ENOENT or EACCES, as a shell distinguishes 127
// and 126.
Result<Program> find_program(const std::vector<std::string>& command, const std::string& folder,
                             const std::vector<std::string>& search_path,
                             const std::vector<std::string>& homes);

// realpath(3) of the longest part that exists, then the rest: for files that are yet to be made.
// `path` may be relative to `folder`. Entries of our own in /proc stay "/proc/self". An error where
// a part of it is a file, a loop or unreadable.
Result<std::string> canonical_path(const std::string& folder, const std::string& path);
// Of an absolute path of our own; what cannot be resolved stays as it is, without "." and "..".
std::string canonical_or_same(const std::string& path);

}  // namespace bulkhead
