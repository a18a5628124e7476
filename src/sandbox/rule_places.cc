#include "sandbox/rule_places.h"

#include "base/path.h"

namespace bulkhead {

namespace {
constexpr size_t kMostPlaces = 65536;
}  // namespace

RulePlaces::RulePlaces(const std::vector<LandlockRule>& rules) {
  for (const LandlockRule& rule : rules) places_[rule.path] |= rule.access;
}

std::vector<LandlockRule> RulePlaces::moved(std::string_view from, std::string_view to) const {
  std::vector<LandlockRule> found;
  const std::lock_guard lock(mutex_);
  for (auto place = places_.lower_bound(from);
       place != places_.end() && place->first.starts_with(from); ++place)
    if (is_within(place->first, from))
      found.push_back({std::string(to).append(place->first, from.size()), place->second});
  return found;
}

bool RulePlaces::note(const std::vector<LandlockRule>& moved) {
  const std::lock_guard lock(mutex_);
  if (places_.size() + moved.size() > kMostPlaces) return false;
  for (const LandlockRule& rule : moved) places_[rule.path] |= rule.access;
  return true;
}

}  // namespace bulkhead
