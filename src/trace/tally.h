// Tally: the journal's table in memory. Coalesces identical events, bounds what a flood can make of
// it, and hands out what has to be written. Not thread-safe (the journal locks), except that a
// slot's `pending` may be added to by anybody at any time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/event.h"
#include "trace/keyed_hash.h"

namespace bulkhead {

// Bounds of one run. They are counted in distinct rows and in bytes of text, because one path may
// have 4 KiB. Denials have their own budget: a flood of allowed accesses must not hide them. So has
// each kind of what was allowed: who reads ten thousand files must not hide which program it ran.
// And so has what no extension gets, of which a person is told each: a flood of other denials,
// before a key is tried, must not hide that.
struct TallyBounds {
  size_t allowed_rows = 16'384;  // of what is read; a half of it is written, an eighth other kinds
  size_t denied_rows = 20'000;
  size_t allowed_bytes = 8U << 20U;
  size_t denied_bytes = 16U << 20U;
  size_t calls_each = 64;       // calls of the editor told apart, of one permission by one rule
  size_t overflow_rows = 256;   // rows "further resources" of one rule each
  size_t kept_denials = 4'096;  // denials whose text stays in memory, for the summary
  size_t kept_bytes = 2U << 20U;
  size_t blocked_share = 8;  // of the bounds for denials, for the built-in blocklist's
};

class Tally {
 public:
  struct Slot {
    std::atomic<uint64_t> pending = 0;  // occurrences not yet written
    uint64_t taken = 0;                 // being written
    uint64_t written = 0;
    int64_t row = 0;  // primary key once written
  };
  // One row to write: a new one (`event` set) or an addition to slot->row.
  struct Change {
    Slot* slot = nullptr;
    uint64_t count = 0;
    int64_t row = 0;  // of an addition; set by the writer for a new one
    bool is_new = false;
    Event event;  // of a new one
  };

  explicit Tally(const TallyBounds& bounds = {}) : bounds_(bounds) {}

  // Slots stay where they are for the life of the tally.
  Slot& add(Event event);
  // Takes everything pending. Every change is given back by commit() or by undo().
  std::vector<Change> take();
  void commit(const std::vector<Change>& changes);
  void undo(std::vector<Change> changes);

  size_t fresh() const { return fresh_.size(); }
  // Besides variables that were withheld at the start, as they are in every run.
  bool access_denied() const {
    return !not_kept_.empty() || std::any_of(kept_.begin(), kept_.end(), [](const Kept& kept) {
      return kept.event.kind != Kind::kEnvironment;
    });
  }
  std::vector<Event> denied() const;  // most frequent first

 private:
  struct Kept {
    Event event;
    const Slot* slot;
  };
  struct Fresh {
    Event event;
    Slot* slot;
  };
  uint64_t key_of(const Event& event) const;
  // One permission is many calls, whose names say what was done: each is a row of its own. The
  // names are an extension's to choose (a command, a setting): beyond so many they are one row, so
  // that they use up nobody's room.
  uint64_t row_key_of(Event& event);
  Slot* find(uint64_t key, uint64_t count);  // and counts; nullptr where there is none
  Slot& insert(uint64_t key, Event event);

  TallyBounds bounds_;
  KeyedHash hash_;
  std::deque<Slot> slots_;
  std::unordered_map<uint64_t, Slot*> index_;
  std::unordered_map<uint64_t, size_t> calls_;  // by what they share
  std::vector<Fresh> fresh_;
  std::vector<Kept> kept_;
  struct Room {
    size_t rows = 0, bytes = 0;
  };
  std::array<Room, kKindLabels.size()> allowed_;  // by kind
  Room denied_;                                   // all others
  Room blocked_;                                  // of the built-in blocklist
  Room kept_room_, kept_blocked_;                 // in memory
  size_t overflow_rows_ = 0;
  std::vector<const Slot*> not_kept_;  // denials beyond kept_
};

}  // namespace bulkhead
