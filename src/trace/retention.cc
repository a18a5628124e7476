#include "trace/retention.h"

#include <chrono>

namespace bulkhead {

void Retention::step() {
  if (done_) return;
  if (!try_step().ok()) done_ = true;
}

Status Retention::try_step() {
  const int64_t now = std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  // The oldest run that is too old; else, with too many rows, the oldest that has ended (or died: a
  // living one is seen every six hours).
  int64_t run = 0;
  {
    BULKHEAD_TRY(Query query,
                 database_.prepare("SELECT run FROM runs WHERE seen < ?1 AND run <> ?2 "
                                   "ORDER BY seen LIMIT 1"));
    query.bind(1, now - bounds_.oldest_us).bind(2, own_run_);
    BULKHEAD_TRY(const bool row, query.step());
    if (row) run = query.integer(0);
  }
  if (run == 0) {
    BULKHEAD_TRY(Query count, database_.prepare("SELECT count(*) FROM accesses"));
    BULKHEAD_TRY(const bool counted, count.step());
    if (!counted || count.integer(0) <= bounds_.rows) {
      done_ = true;
      return {};
    }
    BULKHEAD_TRY(Query query,
                 database_.prepare("SELECT run FROM runs WHERE run <> ?1 AND (ended IS NOT NULL OR "
                                   "seen < ?2) ORDER BY seen LIMIT 1"));
    query.bind(1, own_run_).bind(2, now - int64_t{24} * 3600 * 1'000'000);
    BULKHEAD_TRY(const bool row, query.step());
    if (!row) {
      done_ = true;
      return {};
    }
    run = query.integer(0);
  }
  BULKHEAD_TRY(Query rows, database_.prepare(
                               "DELETE FROM accesses WHERE access IN (SELECT access FROM accesses "
                               "WHERE run = ?1 LIMIT ?2)"));
  rows.bind(1, run).bind(2, bounds_.step);
  BULKHEAD_TRY(const bool row, rows.step());
  static_cast<void>(row);
  if (database_.changes() == bounds_.step) return {};
  // The last of its rows: the run itself goes too, and the file gives pages back.
  BULKHEAD_TRY(Query runs, database_.prepare("DELETE FROM runs WHERE run = ?1"));
  runs.bind(1, run);
  BULKHEAD_TRY(const bool deleted, runs.step());
  static_cast<void>(deleted);
  return database_.execute("PRAGMA incremental_vacuum(256)");
}

}  // namespace bulkhead
