#include "sandbox/plan/rule_places.h"

#include "base/path.h"

namespace bulkhead {

namespace {

// The supervisor's memory, which a program fills that renames what has a rule again and again.
constexpr size_t kRoom = size_t{8} << 20U;
constexpr size_t kPlace = 128;  // beside its name, about

}  // namespace

RulePlaces::RulePlaces(const std::vector<LandlockRule>& rules) : room_(kRoom) {
  for (const LandlockRule& rule : rules) places_[rule.path] |= rule.access;
}

bool RulePlaces::move(std::string_view from, std::string_view to,
                      const std::function<bool(const LandlockRule&)>& may) {
  const std::lock_guard lock(mutex_);
  std::vector<LandlockRule> moved;
  size_t taken = 0;
  for (auto place = places_.lower_bound(from);
       place != places_.end() && place->first.starts_with(from); ++place) {
    if (!is_within(place->first, from)) continue;
    LandlockRule rule{std::string(to).append(place->first, from.size()), place->second};
    if (!places_.contains(rule.path)) taken += kPlace + rule.path.size();
    if (taken > room_ || !may(rule)) return false;
    moved.push_back(std::move(rule));
  }
  room_ -= taken;
  for (LandlockRule& rule : moved) places_[std::move(rule.path)] |= rule.access;
  return true;
}

}  // namespace bulkhead
