// Journal: every decision, kept in SQLite (WAL), readable while written.
//
// record() never blocks on the disk: it coalesces into a bounded table in memory that a writer thread
// flushes every 100 ms and when told. Identical events (kind, resource, verdict, rule, program) add
// to one row's count. Beyond `max_rows_per_run` distinct allowed rows, further ones are counted on
// their rule's row alone; denials have their own, larger bound, after which one row counts the rest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/event.h"

namespace bulkhead {

struct Run {  // one compartment's life
  std::string id;         // 16 hex digits
  std::string subject;    // extension id, or the program's canonical path
  std::string command;    // for people
  std::string workspace;
  bool audit = false;
};

class Journal {
 public:
  // Creates the file (0600) and its folder (0700) where missing, migrates nothing: another schema
  // version is an error that names the file.
  static Result<std::unique_ptr<Journal>> open(const std::string& file, const Run& run);
  virtual ~Journal() = default;

  virtual void record(Event event) = 0;      // any thread
  virtual Status flush() = 0;                 // returns once everything recorded so far is committed
  virtual Status finish(const std::string& outcome) = 0;  // flush, and note how the run ended

  // What this run denied, most frequent first; from memory.
  virtual std::vector<Event> denied() const = 0;
};

// Reading, for `bulkhead log`: newest last.
struct JournalFilter {
  std::string run, subject, resource_part, program_part;
  std::optional<Kind> kind;
  std::optional<Verdict> verdict;
  std::optional<std::chrono::system_clock::time_point> since;
  uint64_t after_row = 0;   // for following: only rows that changed after this revision
  uint64_t limit = 0;       // 0: all; otherwise the newest ones
};
struct JournalRow {
  uint64_t revision = 0;    // grows whenever a row is added or its count changes
  Run run;
  Event event;
};
Result<std::vector<JournalRow>> read_journal(const std::string& file, const JournalFilter& filter);

}  // namespace bulkhead
