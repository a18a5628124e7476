// RulePlaces: by which names Landlock's rules can be met. A rule stays with its file or folder,
// whatever that is called later on, so that a name that grants less must not become its own.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/landlock.h"

namespace bulkhead {

class RulePlaces {
 public:
  explicit RulePlaces(const std::vector<LandlockRule>& rules);

  // The rules that would go along if what is at `from` (canonical) came to be at `to`, with their
  // names there.
  std::vector<LandlockRule> moved(std::string_view from, std::string_view to) const;
  // That they may be there from now on, and where they were still: nobody tells whether a call
  // succeeds. False where there is no room for so many names.
  bool note(const std::vector<LandlockRule>& moved);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> places_;  // by canonical path: rights
};

}  // namespace bulkhead
