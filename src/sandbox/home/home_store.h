// HomeStore: where what a program makes in a private home is kept (private_home.h): in bulkhead's
// own state, where no compartment reaches it by its name.
//
//   homes/NAME/home    of a subject (an extension, a program under a manifest), from run to run
//   homes/NAME/whose   a line with the subject, and one for each package that it is, its folder
//   homes/run-XXXXXX   of one run, and of another later on
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// The folder for a subject, to be made by make_store(). `state`: bulkhead's state folder.
std::string store_of(const std::string& state, const std::string& subject);
// Makes the folder, those above it, and in it the folders that programs expect; keeps what is
// there.
Status make_store(const std::string& store);
// make_store(store_of()), and notes whose it is: the packages' folders.
Status make_store_of(const std::string& state, const std::string& subject,
                     const std::vector<std::string>& packages = {});
// Removes the stores of extensions of which no version is installed any more, where they were.
void remove_orphaned_stores(const std::string& state);

// One for a single run, empty as it begins.
class PassingStore {
 public:
  static Result<PassingStore> make(const std::string& state);
  const std::string& path() const noexcept { return path_; }
  void empty() const;  // once nobody is in it

 private:
  std::string path_;
  Fd lock_;
};

}  // namespace bulkhead
