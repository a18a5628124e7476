// Names: what a host called its own, kept as long as there is room.
//
// A host must not make its judge's memory grow, which no limit of its compartment counts. What does
// not fit is not kept, and so is nobody's: requests that need it to be the host's own are refused.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace bulkhead {

class Names {
 public:
  static constexpr size_t kMost = 4096;
  static constexpr size_t kLongest = 4096;  // bytes, as of a path

  static bool fits(const std::string& name) { return !name.empty() && name.size() <= kLongest; }

  void add(std::string name) {
    if (fits(name) && names_.size() < kMost) names_.insert(std::move(name));
  }
  void remove(const std::string& name) { names_.erase(name); }
  bool contains(const std::string& name) const { return names_.contains(name); }

  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::set<std::string> names_;
};

}  // namespace bulkhead
