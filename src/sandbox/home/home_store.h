// HomeStore: where what a program makes in a private home is kept (private_home.h): in bulkhead's
// own state, where no compartment reaches it by its name.
//
//   homes/NAME/home    of a subject (an extension, a program under a manifest, a workspace), from
//                      run to run
//   homes/NAME/whose   a line with the subject, and one for each package that it is, its folder
//   homes/run-XXXXXX   of one run, and of another later on
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/home/kept_content.h"

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

// A home that is kept from run to run.
struct KeptHome {
  std::string subject;              // what make_store_of() was told
  std::string store;                // its folder
  std::optional<ContentSize> size;  // nothing where some of it cannot be looked at
  time_t used = 0;                  // when something was last made in it, by its top folder
};
// Of all subjects, sorted by subject. Those of a single run are none.
std::vector<KeptHome> kept_homes(const std::string& state);
// Removes what is in it. EBUSY while a compartment has it.
Status clear_home(const KeptHome& home);

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
