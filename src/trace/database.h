// Database: SQLite behind two move-only types and Result. The journal's only way to SQLite.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bulkhead {

// A prepared statement. Bind all parameters, step() until it is false, reset() before the next use.
class Query {
 public:
  Query() = default;
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}

  // Parameters count from 1. Text is bytes: it may hold NUL and need not be UTF-8.
  Query& bind(int index, int64_t value);
  Query& bind(int index, std::string_view text);
  Query& bind_null(int index);
  Result<bool> step();  // true: a row is there
  void reset();

  int64_t integer(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Mode { kReadWrite, kReadOnly };
  // The file must exist. Errors name it, and say what to do where it is damaged.
  static Result<Database> open(const std::string& file, Mode mode);

  Result<Query> prepare(std::string_view sql);
  Status execute(const char* sql);  // statements without parameters and results
  int64_t last_row() const;
  int64_t changes() const;
  // Commits wait for the disk (synchronous=FULL) or only for the kernel (NORMAL).
  Status wait_for_disk(bool wait);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  std::unique_ptr<sqlite3, Close> handle_;
  bool waits_ = false;
};

}  // namespace bulkhead
