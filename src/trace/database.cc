#include "trace/database.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cerrno>

namespace bulkhead {
namespace {

// Every message names the file, the cause and, where there is one, the fix.
// While a file is being opened SQLite does not know its name yet.
Error database_error(sqlite3* handle, int code, const char* opening = nullptr) {
  const char* name = opening;
  if (name == nullptr && handle != nullptr) name = sqlite3_db_filename(handle, "main");
  const std::string file = name == nullptr ? "" : name;
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return Error{
          fmt::format("cannot use the journal {}: it is damaged ({}); move it away, with its "
                      "-wal and -shm files, and a new one is made",
                      file, sqlite3_errstr(code)),
          EUCLEAN};
    case SQLITE_FULL:
      return Error{fmt::format("cannot write the journal {}: the disk is full", file), ENOSPC};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error{
          fmt::format(
              "cannot use the journal {}: another process holds its lock; try again, or end it",
              file),
          EBUSY};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Error{fmt::format("cannot write the journal {}: permission denied", file), EACCES};
    case SQLITE_CANTOPEN:
      return errno_error("open the journal " + file,
                         handle == nullptr ? ENOENT : sqlite3_system_errno(handle));
    default:
      return Error{fmt::format("cannot use the journal {}: {}", file,
                               handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle)),
                   EIO};
  }
}

}  // namespace

void Query::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Query& Query::bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Query& Query::bind(int index, std::string_view text) {
  // A null pointer would bind NULL. SQLITE_TRANSIENT copies, so that callers
  // need not keep the text.
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Query& Query::bind_null(int index) {
  sqlite3_bind_null(statement_.get(), index);
  return *this;
}

Result<bool> Query::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = database_error(sqlite3_db_handle(statement_.get()), code);
  reset();
  return error;
}

void Query::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Query::text(int column) const {
  const unsigned char* data = sqlite3_column_text(statement_.get(), column);
  if (data == nullptr) return {};
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return std::string(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::string& file, Mode mode) {
  sqlite3* handle = nullptr;
  const int flags = (mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return database_error(handle, code, file.c_str());
  // Another supervisor's transaction takes milliseconds; this bound is for a stopped one.
  sqlite3_busy_timeout(handle, 5000);
  // A crafted file must not run anything (triggers, views calling functions) by being opened.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // The last one to leave would copy the log into the database and sync, at the end of every run.
  // Instead the log stays, and is copied when it has grown (wal_autocheckpoint).
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return database;
}

Result<Query> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return database_error(handle_.get(), code);
  return Query(statement);
}

Status Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return database_error(handle_.get(), code);
  return {};
}

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }
int64_t Database::changes() const { return sqlite3_changes64(handle_.get()); }

Status Database::wait_for_disk(bool wait) {
  if (wait == waits_) return {};
  BULKHEAD_CHECK(execute(wait ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
  waits_ = wait;
  return {};
}

}  // namespace bulkhead
