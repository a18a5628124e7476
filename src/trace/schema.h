// The journal's schema, version 1. schema/journal.md tells what each column means.
#pragma once

#include "base/result.h"
#include "trace/database.h"

namespace bulkhead {

inline constexpr int kJournalSchema = 1;

// What a file that is none says of itself; opening a pipe would wait for ever.
Error no_regular_journal(const std::string& file);
// Makes the tables in an empty file. A file of another version, or of another program, is an error.
Status prepare_schema(Database& database, const std::string& file);
// The same without writing: for readers.
Status check_schema(Database& database, const std::string& file);

}  // namespace bulkhead
