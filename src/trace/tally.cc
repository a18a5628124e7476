#include "trace/tally.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "policy/judge.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxText = 4096;
constexpr std::string_view kFurther = "(further resources)";
constexpr std::string_view kFurtherCalls = "(further calls)";

void cut(std::string& text, size_t limit) {
  if (text.size() <= limit) return;
  text.resize(limit);
  text += "…";
}

// Of the bounds for what is allowed, a kind has the whole, a half, an eighth.
size_t share_of(Kind kind) {
  switch (kind) {
    case Kind::kRead:
    case Kind::kReadStatus:
      return 1;
    case Kind::kWrite:
    case Kind::kWriteStatus:
      return 2;
    default:
      return 8;
  }
}

// What no grant gives. As the companion knows it (vscode/companion/model.js).
bool is_blocked(const Event& event) {
  return event.verdict != Verdict::kAllow &&
         (event.rule.starts_with(label(Rule::Source::kBuiltin)) || event.rule == kUnseenBlocked);
}

size_t bytes_of(const Event& event) {
  return event.resource.size() + event.rule.size() + event.program.size() + event.detail.size();
}

}  // namespace

uint64_t Tally::key_of(const Event& event) const {
  const uint64_t flags =
      static_cast<uint64_t>(event.kind) | static_cast<uint64_t>(event.verdict) << 8U |
      static_cast<uint64_t>(event.asked) << 16U | static_cast<uint64_t>(event.enforced) << 17U;
  return hash_.mix(hash_.of(event.resource), hash_.of(event.rule), hash_.of(event.program), flags);
}

uint64_t Tally::row_key_of(Event& event) {
  const uint64_t key = key_of(event);
  if (event.kind != Kind::kVscode || event.detail.empty()) return key;
  const uint64_t own = hash_.mix(key, hash_.of(event.detail));
  if (index_.contains(own)) return own;
  size_t& calls = calls_[key];
  if (calls < bounds_.calls_each) {
    ++calls;
    return own;
  }
  event.detail = kFurtherCalls;
  return key;
}

Tally::Slot* Tally::find(uint64_t key, uint64_t count) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  found->second->pending.fetch_add(count, std::memory_order_relaxed);
  return found->second;
}

Tally::Slot& Tally::insert(uint64_t key, Event event) {
  Slot& slot = slots_.emplace_back();
  slot.pending.store(event.count, std::memory_order_relaxed);
  index_.emplace(key, &slot);
  if (event.verdict != Verdict::kAllow) {
    const size_t bytes = sizeof(Event) + bytes_of(event);
    const bool blocked = is_blocked(event);
    const size_t share = blocked ? bounds_.blocked_share : 1;
    Room& room = blocked ? kept_blocked_ : kept_room_;
    if (room.rows < bounds_.kept_denials / share &&
        room.bytes + bytes <= bounds_.kept_bytes / share) {
      ++room.rows;
      room.bytes += bytes;
      kept_.push_back({event, &slot});
    } else {
      not_kept_.push_back(&slot);
    }
  }
  fresh_.push_back({std::move(event), &slot});
  return slot;
}

Tally::Slot& Tally::add(Event event) {
  const uint64_t key = row_key_of(event);
  if (Slot* const slot = find(key, event.count)) return *slot;
  // The key is of the whole text: two resources that differ after the cut stay two rows.
  cut(event.resource, kMaxText);
  cut(event.program, kMaxText);
  cut(event.rule, 1024);
  cut(event.detail, 256);
  const bool denied = event.verdict != Verdict::kAllow;
  const bool blocked = is_blocked(event);
  Room& room = blocked ? blocked_ : denied ? denied_ : allowed_[static_cast<size_t>(event.kind)];
  const size_t share = blocked ? bounds_.blocked_share : denied ? 1 : share_of(event.kind);
  const size_t more = bytes_of(event);
  if (room.rows < (denied ? bounds_.denied_rows : bounds_.allowed_rows) / share &&
      room.bytes + more <= (denied ? bounds_.denied_bytes : bounds_.allowed_bytes) / share) {
    ++room.rows;
    room.bytes += more;
    return insert(key, std::move(event));
  }
  // Full. Allowed: one row per rule; denied, or too many rules: one row for all.
  event.resource = kFurther;
  event.program.clear();
  event.detail.clear();
  event.pid = 0;
  if (!denied) {
    const uint64_t rule_key = key_of(event);
    if (Slot* const slot = find(rule_key, event.count)) return *slot;
    if (overflow_rows_ < bounds_.overflow_rows) {
      ++overflow_rows_;
      return insert(rule_key, std::move(event));
    }
  }
  event.rule = "(more distinct accesses than the journal keeps of one run)";
  event.asked = false;
  event.enforced = true;
  const uint64_t last_key = hash_.mix(hash_.of(event.rule), denied ? 1 : 0);
  if (Slot* const slot = find(last_key, event.count)) return *slot;
  return insert(last_key, std::move(event));
}

std::vector<Tally::Change> Tally::take() {
  std::vector<Change> changes;
  for (Fresh& fresh : fresh_) {
    Change& change = changes.emplace_back();
    change.slot = fresh.slot;
    change.is_new = true;
    change.event = std::move(fresh.event);
    change.count = change.slot->taken = change.slot->pending.exchange(0, std::memory_order_relaxed);
  }
  fresh_.clear();
  for (Slot& slot : slots_) {
    if (slot.pending.load(std::memory_order_relaxed) == 0) continue;
    if (slot.row == 0) continue;  // new, taken just above, and counted again since
    Change& change = changes.emplace_back();
    change.slot = &slot;
    change.row = slot.row;
    change.count = slot.taken = slot.pending.exchange(0, std::memory_order_relaxed);
  }
  return changes;
}

void Tally::commit(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    change.slot->written += std::exchange(change.slot->taken, 0);
    change.slot->row = change.row;
  }
}

void Tally::undo(std::vector<Change> changes) {
  std::vector<Fresh> fresh;
  for (Change& change : changes) {
    change.slot->taken = 0;
    change.slot->pending.fetch_add(change.count, std::memory_order_relaxed);
    if (change.is_new) fresh.push_back({std::move(change.event), change.slot});
  }
  std::move(fresh_.begin(), fresh_.end(), std::back_inserter(fresh));
  fresh_ = std::move(fresh);
}

std::vector<Event> Tally::denied() const {
  const auto total = [](const Slot& slot) {
    return slot.written + slot.taken + slot.pending.load(std::memory_order_relaxed);
  };
  std::vector<Event> events;
  for (const Kept& kept : kept_) {
    events.push_back(kept.event);
    events.back().count = total(*kept.slot);
  }
  // Equal counts stay in the order of their first occurrence.
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.count > b.count; });
  if (!not_kept_.empty()) {
    Event& rest = events.emplace_back();
    rest.resource = kFurther;
    rest.count = 0;
    for (const Slot* slot : not_kept_) rest.count += total(*slot);
  }
  return events;
}

}  // namespace bulkhead
