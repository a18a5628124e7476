// PrivateHome: the home folder that a compartment has for itself. A folder of bulkhead's own (the
// store) is mounted over the home folder, and what is the machine's and must be seen (the
// workspace, what is granted) is bound on top of it. So whatever the program makes there exists for
// it alone, and nothing else of the real home is there at all: the kernel's own answers (stat,
// access, chdir) and those that the supervisor gives are about the same files.
//
//   ~                    the store
//   ~/.cache/X           in the store: no question, no rule, no block
//   ~/projects           the machine's, where the workspace lies in it: judged by the policy
//   ~/.ssh               in the store: not there, unless the program makes one
//
// By its name alone a path is the program's own or the machine's. That is true for as long as the
// mounts are where they were made, and several compartments may have one store: a folder in which
// another has mounted something could be renamed. So who opens what is the program's own by name
// does not leave the store's mount on the way (Walker), folders of the store stay in the folder
// that they are in (calls/tree.cc), and Landlock gives no right to write there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "policy/policy.h"

namespace bulkhead {

class PrivateHome {
 public:
  // All canonical; `real`: below `home`.
  PrivateHome(std::string home, std::string store, std::vector<std::string> real);

  // Whether the path is the program's own.
  bool holds(std::string_view path) const noexcept;
  // Whether something of the machine's is mounted at the path or below it.
  bool leads_to_real(std::string_view path) const noexcept;

  const std::string& home() const noexcept { return home_; }
  const std::string& store() const noexcept { return store_; }
  const std::vector<std::string>& real() const noexcept {
    return real_;
  }  // sorted; none in another

 private:
  std::string home_, store_;
  std::vector<std::string> real_;
};

// What of the home folder stays the machine's under this policy. `folder`: where the program
// starts. An error where the policy grants the home folder itself, or there is none.
Result<PrivateHome> plan_home(const Policy& policy, std::string store, const std::string& folder);

// Makes the places for what is mounted in the store. What the program left in their way goes.
Result<Fd> make_places(const PrivateHome& home);
// Folders of the store that nothing of the machine's is mounted in, by their names in the home.
std::vector<std::string> own_folders(const PrivateHome& home);

}  // namespace bulkhead
