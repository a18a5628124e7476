// Journal: every decision, kept in SQLite (WAL), readable while written.
//
// record() never blocks on the disk: it coalesces into a bounded table in memory (tally.h) that a
// writer thread flushes every 100 ms and when told. Identical events (kind, resource, verdict,
// asked, enforced, rule, program) add to one row's count. Beyond the bound of distinct allowed rows
// of a run, further ones are counted on their rule's row alone; denials have their own, larger
// bound, after which one row counts the rest.
//
// What a crash leaves: a row that a flush committed survives the death of the process at any
// moment. flush(), and finish() of a run that denied something, also wait for the disk, so that
// what they report survives a power cut; the periodic flush does not wait.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/event.h"

namespace bulkhead {

struct Run {            // one compartment's life
  std::string id;       // 16 hex digits
  std::string subject;  // extension id, or the program's canonical path
  std::string command;  // for people
  std::string workspace;
  bool audit = false;
};

Result<std::string> new_run_id();

class Journal {
 public:
  // Creates the file (0600) and its folder (0700) where missing, migrates nothing: another schema
  // version is an error that names the file.
  static Result<std::unique_ptr<Journal>> open(const std::string& file, const Run& run);
  virtual ~Journal() = default;

  virtual void record(Event event) = 0;  // any thread
  // As record(); adding n to the result records the same event n more times, at the cost of one
  // atomic addition. The counter lives as long as the journal. nullptr: call record() each time.
  virtual std::atomic<uint64_t>* record_counted(Event event) {
    record(std::move(event));
    return nullptr;
  }
  virtual Status flush() = 0;  // returns once everything recorded so far is committed
  virtual Status finish(const std::string& outcome) = 0;  // flush, and note how the run ended

  // What this run denied (in an audit run: would have denied, enforced == false), most frequent
  // first; from memory. Bounded: beyond some thousands the rest is one event.
  virtual std::vector<Event> denied() const = 0;
};

// Opens a journal in a thread of its own: opening takes about as long as compiling a policy, and
// neither needs the other.
class JournalOpening {
 public:
  explicit JournalOpening(std::string file);
  ~JournalOpening();  // waits
  JournalOpening(const JournalOpening&) = delete;
  JournalOpening& operator=(const JournalOpening&) = delete;

  // What Journal::open() would have given. Once.
  Result<std::unique_ptr<Journal>> start(const Run& run);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

// Reading, for `bulkhead log`: newest last.
struct JournalFilter {             // an empty member selects everything
  std::string run = {};            // equal
  std::string subject = {};        // equal
  std::string resource_part = {};  // contained, as it stands
  std::string program_part = {};   // contained, as it stands
  std::optional<Kind> kind = {};
  std::optional<Verdict> verdict = {};
  std::optional<std::chrono::system_clock::time_point> since = {};
  uint64_t after_row = 0;  // for following: only rows that changed after this revision
  uint64_t limit = 0;      // 0: all; otherwise the newest ones
};
struct JournalRow {
  uint64_t revision = 0;  // grows whenever a row is added or its count changes
  Run run;
  Event event;
};
// A file that does not exist is an error with ENOENT.
Result<std::vector<JournalRow>> read_journal(const std::string& file, const JournalFilter& filter);

struct RunRow {
  Run run;
  std::chrono::system_clock::time_point started;
  std::optional<std::chrono::system_clock::time_point> ended;  // unset: running, or it died
  std::string outcome;                                         // empty until ended
};
// Newest last. What a filter says of accesses selects the runs that have one such; `since`, the
// runs that were going on then or later.
Result<std::vector<RunRow>> read_runs(const std::string& file, const JournalFilter& filter);

}  // namespace bulkhead
