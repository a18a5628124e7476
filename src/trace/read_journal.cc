// Reading the journal, while others write it.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "trace/groundwork.h"
#include "trace/schema.h"

namespace bulkhead {
namespace {

using Clock = std::chrono::system_clock;

Clock::time_point time_of(int64_t microseconds) {
  return Clock::time_point(std::chrono::microseconds(microseconds));
}

Result<Database> open_for_reading(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno_error("read the journal " + file);
  if (!S_ISREG(status.st_mode)) return no_regular_journal(file);
  // A reader of WAL joins in its shared memory and so needs to write it; where it may not, SQLite
  // can still read what a clean end left.
  const bool writable = ::access(file.c_str(), W_OK) == 0;
  BULKHEAD_TRY(Database database, Database::open(file, writable ? Database::Mode::kReadWrite
                                                                : Database::Mode::kReadOnly));
  BULKHEAD_CHECK(database.execute("PRAGMA query_only=1"));
  BULKHEAD_CHECK(check_schema(database, file));
  return database;
}

Result<Kind> known_kind(const std::string& text, const std::string& file) {
  if (const auto kind = kind_of(text)) return *kind;
  return Error{
      fmt::format(
          "cannot read the journal {}: it holds the kind '{}', which this bulkhead does not know",
          file, text),
      EINVAL};
}

int64_t microseconds_of(const std::optional<Clock::time_point>& since) {
  if (!since) return INT64_MIN;
  return std::chrono::duration_cast<std::chrono::microseconds>(since->time_since_epoch()).count();
}

// Rules by which a host does its groundwork, as text_of() in arbiter.cc begins them: those of every
// host, and sets that hold nothing of anybody's.
constexpr std::array<std::string_view, 6> kGroundRules = {
    "baseline: ",         "manifest: @system ", "manifest: @node ",
    "manifest: @locale ", "manifest: @time ",   "manifest: @network-config "};

// is_groundwork() for rows `a` of runs `r`.
std::string groundwork_sql() {
  std::string rules;
  for (const std::string_view rule : kGroundRules)
    rules += fmt::format("{}a.rule GLOB '{}*'", rules.empty() ? "" : " OR ", rule);
  return fmt::format(
      "(r.command GLOB '{}*' AND ((a.verdict = 'allow' AND a.asked = 0 AND a.kind <> 'run' AND "
      "({})) OR "
      "a.kind = 'environment' OR (a.kind = 'system' AND a.resource = 'io_uring_setup') OR "
      "(a.kind = 'read' AND a.resource = '/dev')))",
      kHostCommand, rules);
}

enum class Which { kAll, kBrief, kGroundwork };

Result<std::vector<JournalRow>> read(const std::string& file, const JournalFilter& filter,
                                     Which which) {
  BULKHEAD_TRY(Database database, open_for_reading(file));
  // One statement for every combination: an unused condition is switched off by its first half.
  BULKHEAD_TRY(
      Query query,
      database.prepare(
          std::string(
              "SELECT a.revision, a.kind, a.resource, a.verdict, a.asked, a.enforced, a.rule, "
              "a.pid, "
              "a.program, a.detail, a.count, a.last, r.id, r.subject, r.command, r.workspace, "
              "r.audit "
              "FROM accesses AS a JOIN runs AS r USING (run) WHERE a.revision > ?1 "
              "AND (?2 = '' OR r.id = ?2) AND (?3 = '' OR r.subject = ?3) "
              "AND (?4 = '' OR instr(a.resource, ?4) > 0) AND (?5 = '' OR instr(a.program, ?5) > "
              "0) "
              "AND (?6 = '' OR a.kind = ?6) AND (?7 = '' OR a.verdict = ?7) AND a.last >= ?8 "
              "AND ") +
          (which == Which::kAll ? "TRUE"
                                : (which == Which::kBrief ? "NOT " : "") + groundwork_sql()) +
          " ORDER BY a.revision DESC LIMIT ?9"));
  query.bind(1, static_cast<int64_t>(filter.after_row)).bind(2, filter.run).bind(3, filter.subject);
  query.bind(4, filter.resource_part).bind(5, filter.program_part);
  query.bind(6, filter.kind ? label(*filter.kind) : std::string_view());
  query.bind(7, filter.verdict ? label(*filter.verdict) : std::string_view());
  query.bind(8, microseconds_of(filter.since));
  query.bind(9, filter.limit == 0 ? int64_t{-1} : static_cast<int64_t>(filter.limit));
  std::vector<JournalRow> rows;
  for (;;) {
    BULKHEAD_TRY(const bool more, query.step());
    if (!more) break;
    JournalRow& row = rows.emplace_back();
    row.revision = static_cast<uint64_t>(query.integer(0));
    BULKHEAD_TRY(row.event.kind, known_kind(query.text(1), file));
    row.event.resource = query.text(2);
    row.event.verdict = query.text(3) == "allow" ? Verdict::kAllow : Verdict::kDeny;
    row.event.asked = query.integer(4) != 0;
    row.event.enforced = query.integer(5) != 0;
    row.event.rule = query.text(6);
    row.event.pid = static_cast<int32_t>(query.integer(7));
    row.event.program = query.text(8);
    row.event.detail = query.text(9);
    row.event.count = static_cast<uint64_t>(query.integer(10));
    row.event.time = time_of(query.integer(11));
    row.run.id = query.text(12);
    row.run.subject = query.text(13);
    row.run.command = query.text(14);
    row.run.workspace = query.text(15);
    row.run.audit = query.integer(16) != 0;
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

}  // namespace

bool is_groundwork(const Run& run, const Event& event) {
  if (!run.command.starts_with(kHostCommand)) return false;
  if (is_routine(event)) return true;
  return event.verdict == Verdict::kAllow && !event.asked && event.kind != Kind::kRun &&
         std::any_of(kGroundRules.begin(), kGroundRules.end(),
                     [&](std::string_view rule) { return event.rule.starts_with(rule); });
}

Result<std::vector<JournalRow>> read_journal(const std::string& file, const JournalFilter& filter) {
  return read(file, filter, Which::kAll);
}

Result<std::vector<JournalRow>> read_journal_brief(const std::string& file,
                                                   const JournalFilter& filter) {
  return read(file, filter, Which::kBrief);
}

Result<bool> holds_groundwork(const std::string& file, const JournalFilter& filter) {
  JournalFilter one = filter;
  one.limit = 1;
  BULKHEAD_TRY(const auto rows, read(file, one, Which::kGroundwork));
  return !rows.empty();
}

Result<std::vector<RunRow>> read_runs(const std::string& file, const JournalFilter& filter) {
  BULKHEAD_TRY(Database database, open_for_reading(file));
  BULKHEAD_TRY(
      Query query,
      database.prepare(
          "SELECT r.id, r.subject, r.command, r.workspace, r.audit, r.started, r.ended, r.outcome "
          "FROM runs AS r WHERE (?1 = '' OR r.id = ?1) AND (?2 = '' OR r.subject = ?2) AND ("
          "(?3 = '' AND ?4 = '' AND ?5 = '' AND ?6 = '' "
          "AND max(r.started, ifnull(r.ended, r.started)) >= ?7) OR EXISTS ("
          "SELECT 1 FROM accesses AS a WHERE a.run = r.run "
          "AND (?3 = '' OR instr(a.resource, ?3) > 0) AND (?4 = '' OR instr(a.program, ?4) > 0) "
          "AND (?5 = '' OR a.kind = ?5) AND (?6 = '' OR a.verdict = ?6) AND a.last >= ?7)) "
          "ORDER BY r.run DESC LIMIT ?8"));
  query.bind(1, filter.run).bind(2, filter.subject);
  query.bind(3, filter.resource_part).bind(4, filter.program_part);
  query.bind(5, filter.kind ? label(*filter.kind) : std::string_view());
  query.bind(6, filter.verdict ? label(*filter.verdict) : std::string_view());
  query.bind(7, microseconds_of(filter.since));
  query.bind(8, filter.limit == 0 ? int64_t{-1} : static_cast<int64_t>(filter.limit));
  std::vector<RunRow> rows;
  for (;;) {
    BULKHEAD_TRY(const bool more, query.step());
    if (!more) break;
    RunRow& row = rows.emplace_back();
    row.run.id = query.text(0);
    row.run.subject = query.text(1);
    row.run.command = query.text(2);
    row.run.workspace = query.text(3);
    row.run.audit = query.integer(4) != 0;
    row.started = time_of(query.integer(5));
    if (!query.is_null(6)) row.ended = time_of(query.integer(6));
    row.outcome = query.text(7);
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

}  // namespace bulkhead
