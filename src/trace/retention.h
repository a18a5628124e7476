// Retention: what is deleted from the journal, a little at a time.
#pragma once

#include <cstdint>

#include "trace/database.h"

namespace bulkhead {

struct RetentionBounds {
  int64_t oldest_us = int64_t{30} * 24 * 3600 * 1'000'000;  // since a run was last seen
  int64_t rows = 200'000;                                   // beyond that the oldest ended runs go
  int64_t step = 500;  // rows in one transaction: other supervisors wait that long
};

// Each step() is one short transaction; call it until done(). A run that is still seen (see
// runs.seen) is never touched, so no supervisor loses the rows that it adds to.
class Retention {
 public:
  Retention(Database& database, int64_t own_run, const RetentionBounds& bounds = {})
      : database_(database), own_run_(own_run), bounds_(bounds) {}
  void step();  // an error ends it: the next run tries again
  bool done() const { return done_; }

 private:
  Status try_step();
  Result<int64_t> choose() const;  // a run to delete; 0: none

  Database& database_;
  int64_t own_run_;
  RetentionBounds bounds_;
  int64_t run_ = 0;  // being deleted: a run goes as a whole
  bool done_ = false;
};

}  // namespace bulkhead
