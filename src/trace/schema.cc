#include "trace/schema.h"

#include <fmt/core.h>

#include <cerrno>

namespace bulkhead {
namespace {

// "BHJ1": tells our file from any other SQLite database.
constexpr int64_t kApplication = 0x42484A31;

constexpr const char* kCreate = R"sql(
CREATE TABLE runs (
  run       INTEGER PRIMARY KEY,
  id        TEXT    NOT NULL,
  subject   TEXT    NOT NULL,
  command   TEXT    NOT NULL,
  workspace TEXT    NOT NULL,
  audit     INTEGER NOT NULL CHECK (audit IN (0, 1)),
  started   INTEGER NOT NULL,
  seen      INTEGER NOT NULL,
  ended     INTEGER,
  outcome   TEXT
) STRICT;
CREATE INDEX runs_seen ON runs (seen);
CREATE TABLE accesses (
  access    INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES runs,
  kind      TEXT    NOT NULL,
  resource  TEXT    NOT NULL,
  verdict   TEXT    NOT NULL CHECK (verdict IN ('allow', 'deny')),
  asked     INTEGER NOT NULL CHECK (asked IN (0, 1)),
  enforced  INTEGER NOT NULL CHECK (enforced IN (0, 1)),
  rule      TEXT    NOT NULL,
  pid       INTEGER NOT NULL,
  program   TEXT    NOT NULL,
  detail    TEXT    NOT NULL,
  count     INTEGER NOT NULL,
  first     INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  revision  INTEGER NOT NULL
) STRICT;
CREATE INDEX accesses_run ON accesses (run);
CREATE UNIQUE INDEX accesses_revision ON accesses (revision);
CREATE TABLE clock (
  only      INTEGER PRIMARY KEY CHECK (only = 1),
  revision  INTEGER NOT NULL
) STRICT;
INSERT INTO clock VALUES (1, 0);
)sql";

Result<int64_t> pragma(Database& database, const char* sql) {
  BULKHEAD_TRY(Query query, database.prepare(sql));
  BULKHEAD_TRY(const bool row, query.step());
  return row ? query.integer(0) : 0;
}

// True where the file is ours and current, false where it is empty.
Result<bool> is_current(Database& database, const std::string& file) {
  // One moment for all that is read: another run may be making the file just now.
  BULKHEAD_CHECK(database.execute("SAVEPOINT look"));
  const Result<int64_t> versions = pragma(database, "PRAGMA user_version");
  const Result<int64_t> applications = pragma(database, "PRAGMA application_id");
  const Result<int64_t> table_counts = pragma(database, "SELECT count(*) FROM sqlite_schema");
  const Status released = database.execute("RELEASE look");
  // First what went wrong first: an error of the disk may have released already.
  BULKHEAD_TRY(const int64_t version, versions);
  BULKHEAD_TRY(const int64_t application, applications);
  BULKHEAD_TRY(const int64_t tables, table_counts);
  BULKHEAD_CHECK(released);
  if (version == kJournalSchema && application == kApplication) return true;
  if (version == 0 && application == 0 && tables == 0) return false;
  if (application != kApplication)
    return Error{
        fmt::format(
            "cannot use the journal {}: it is the database of another program; move it away", file),
        EINVAL};
  return Error{
      fmt::format("cannot use the journal {}: its schema has version {}, this bulkhead knows {}; "
                  "move it away, or use the bulkhead that made it",
                  file, version, kJournalSchema),
      EINVAL};
}

Result<std::string> journal_mode(Database& database, const char* sql) {
  BULKHEAD_TRY(Query query, database.prepare(sql));
  BULKHEAD_TRY(const bool row, query.step());
  return row ? query.text(0) : std::string();
}

}  // namespace

Error no_regular_journal(const std::string& file) {
  return Error{fmt::format("cannot use the journal {}: it is no regular file; move it away", file),
               EINVAL};
}

Status check_schema(Database& database, const std::string& file) {
  BULKHEAD_TRY(const bool current, is_current(database, file));
  if (!current) return Error{fmt::format("cannot read the journal {}: it is empty", file), ENOENT};
  return {};
}

Status prepare_schema(Database& database, const std::string& file) {
  BULKHEAD_TRY(bool current, is_current(database, file));
  if (!current) {
    // Before the first page is written; lets the file shrink step by step after a retention run.
    BULKHEAD_CHECK(database.execute("PRAGMA auto_vacuum=INCREMENTAL"));
  }
  BULKHEAD_TRY(std::string mode, journal_mode(database, "PRAGMA journal_mode"));
  if (mode != "wal") {
    BULKHEAD_TRY(mode, journal_mode(database, "PRAGMA journal_mode=WAL"));
    if (mode != "wal")
      return Error{
          fmt::format(
              "cannot use the journal {}: its file system has no shared memory for SQLite's "
              "WAL mode; set XDG_STATE_HOME to a folder on a local disk",
              file),
          ENOTSUP};
  }
  BULKHEAD_CHECK(database.execute(
      "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=256; PRAGMA cache_size=-256"));
  if (current) return {};
  BULKHEAD_CHECK(database.execute("BEGIN IMMEDIATE"));
  // Another supervisor may have been quicker between the check above and this lock.
  const Status made = [&]() -> Status {
    BULKHEAD_TRY(const bool made_meanwhile, is_current(database, file));
    if (made_meanwhile) return {};
    BULKHEAD_CHECK(database.execute(kCreate));
    return database.execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}",
                                        kApplication, kJournalSchema)
                                .c_str());
  }();
  if (!made.ok()) {
    (void)database.execute("ROLLBACK");
    return made.error();
  }
  return database.execute("COMMIT");
}

}  // namespace bulkhead
