#include "trace/retention.h"

#include <chrono>

namespace bulkhead {

void Retention::step() {
  if (done_) return;
  if (!try_step().ok()) done_ = true;
}

// The oldest run that is too old; else, with too many rows, the oldest that has ended (or died: a
// living one is seen every six hours).
Result<int64_t> Retention::choose() const {
  const int64_t now = std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  BULKHEAD_TRY(Query old, database_.prepare("SELECT run FROM runs WHERE seen < ?1 AND run <> ?2 "
                                            "ORDER BY seen LIMIT 1"));
  old.bind(1, now - bounds_.oldest_us).bind(2, own_run_);
  BULKHEAD_TRY(const bool is_old, old.step());
  if (is_old) return old.integer(0);

  BULKHEAD_TRY(Query count, database_.prepare("SELECT count(*) FROM accesses"));
  BULKHEAD_TRY(const bool counted, count.step());
  if (!counted || count.integer(0) <= bounds_.rows) return int64_t{0};
  BULKHEAD_TRY(Query ended,
               database_.prepare("SELECT run FROM runs WHERE run <> ?1 AND "
                                 "(ended IS NOT NULL OR seen < ?2) ORDER BY seen LIMIT 1"));
  ended.bind(1, own_run_).bind(2, now - int64_t{24} * 3600 * 1'000'000);
  BULKHEAD_TRY(const bool has_ended, ended.step());
  return has_ended ? ended.integer(0) : int64_t{0};
}

Status Retention::try_step() {
  if (run_ == 0) {
    BULKHEAD_TRY(run_, choose());
    if (run_ == 0) {
      done_ = true;
      return {};
    }
  }
  BULKHEAD_TRY(Query rows,
               database_.prepare("DELETE FROM accesses WHERE access IN "
                                 "(SELECT access FROM accesses WHERE run = ?1 LIMIT ?2)"));
  rows.bind(1, run_).bind(2, bounds_.step);
  BULKHEAD_TRY(const bool row, rows.step());
  static_cast<void>(row);
  if (database_.changes() == bounds_.step) return {};
  // The last of its rows: the run itself goes too, and the file gives pages back.
  BULKHEAD_TRY(Query run, database_.prepare("DELETE FROM runs WHERE run = ?1"));
  run.bind(1, run_);
  BULKHEAD_TRY(const bool deleted, run.step());
  static_cast<void>(deleted);
  run_ = 0;
  return database_.execute("PRAGMA incremental_vacuum(256)");
}

}  // namespace bulkhead
