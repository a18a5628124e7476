// RulePlaces: by which names Landlock's rules can be met. A rule stays with its file or folder,
// whatever that is called later on, so that a name that grants less must not become its own.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/kernel/landlock.h"

namespace bulkhead {

class RulePlaces {
 public:
  explicit RulePlaces(const std::vector<LandlockRule>& rules);

  // Notes that the rules of what is at `from` (canonical) may be met at `to` from now on, and where
  // they were still: nobody tells whether a call succeeds. False, and nothing is noted, where one
  // of them may not be there, by its name there, or there is no room for so many names.
  bool move(std::string_view from, std::string_view to,
            const std::function<bool(const LandlockRule&)>& may);

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> places_;  // by canonical path: rights
  size_t room_;                                          // bytes, for further names
};

}  // namespace bulkhead
