// bulkhead log: the journal, filtered, followed, as a table or as JSON.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>

#include "base/path.h"
#include "base/spelling.h"
#include "cli/log_time.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "policy/judge.h"
#include "sandbox/limits/outcome.h"
#include "session/session.h"
#include "trace/groundwork.h"

namespace bulkhead {
namespace {

using Clock = std::chrono::system_clock;

struct LogOptions {
  std::string run, kind, program, path, subject, since;
  uint64_t limit = 0;
  bool limit_given = false;
  bool all = false, brief = false, denied = false, follow = false, json = false, runs = false;
};

constexpr uint64_t kOnTerminal = 100;  // newest rows shown on a terminal without --limit
constexpr size_t kWhole = 100;         // columns of a terminal that shows each of ours
constexpr size_t kMedium = 70;         // and of one that shows all but the run and the rule

nlohmann::json row_json(const JournalRow& row) {
  const Event& event = row.event;
  return {{"revision", row.revision},   {"time", utc_text(event.time)},
          {"run", row.run.id},          {"subject", row.run.subject},
          {"command", row.run.command}, {"workspace", row.run.workspace},
          {"audit", row.run.audit},     {"kind", label(event.kind)},
          {"resource", event.resource}, {"verdict", label(event.verdict)},
          {"asked", event.asked},       {"enforced", event.enforced},
          {"rule", event.rule},         {"pid", event.pid},
          {"program", event.program},   {"detail", event.detail},
          {"count", event.count},       {"groundwork", is_groundwork(row.run, event)}};
}

std::string verdict_text(const Event& event) {
  if (is_own_home(event.rule)) return "own home";
  if (event.verdict == Verdict::kDeny && !event.enforced) return "let pass";
  return event.verdict == Verdict::kDeny ? "denied" : "allowed";
}

// A permission of the editor with the call that used it: which command, which setting.
std::string resource_text(const Event& event) {
  const size_t at = event.detail.find('$');
  if (event.kind != Kind::kVscode || event.detail.empty()) return event.resource;
  return event.resource + " " + event.detail.substr(at == std::string::npos ? 0 : at + 1);
}

// The journal's columns, those of them that a terminal of this width can show: fewer, rather than
// all of them broken. 0: no terminal.
struct LogColumn {
  Table::Column column;
  Table::Cell (*cell)(const JournalRow&);
};
std::vector<LogColumn> columns_for(size_t width, bool all_today) {
  const bool whole = width == 0 || width >= kWhole;
  const bool medium = whole || width >= kMedium;
  std::vector<LogColumn> columns;
  const auto add = [&](bool fits, Table::Column column, Table::Cell (*cell)(const JournalRow&)) {
    if (fits) columns.push_back({std::move(column), cell});
  };
  // Rows are kept for 30 days: the year is known.
  const bool dated = width == 0 || !all_today;
  add(dated, {"time"},
      [](const JournalRow& row) { return Table::Cell{local_text(row.event.time).substr(5)}; });
  add(!dated, {"time"},
      [](const JournalRow& row) { return Table::Cell{local_text(row.event.time).substr(11)}; });
  add(whole, {"run"}, [](const JournalRow& row) {
    return Table::Cell{row.run.id.substr(0, 6), Colour::kDim};
  });
  add(true, {""}, [](const JournalRow& row) {
    const bool denied = row.event.verdict == Verdict::kDeny;
    const bool harmless = !row.event.enforced || is_own_home(row.event.rule);
    const Colour colour = harmless ? Colour::kYellow : Colour::kRed;
    return Table::Cell{verdict_text(row.event), denied ? colour : Colour::kNone};
  });
  add(true, {"kind"},
      [](const JournalRow& row) { return Table::Cell{std::string(label(row.event.kind))}; });
  add(true, {"resource", false, whole ? size_t{24} : size_t{8}},
      [](const JournalRow& row) { return Table::Cell{resource_text(row.event)}; });
  add(medium, {"count", true},
      [](const JournalRow& row) { return Table::Cell{std::to_string(row.event.count)}; });
  add(medium, {"program", false, 4},
      [](const JournalRow& row) { return Table::Cell{std::string(last_of(row.event.program))}; });
  add(whole, {"rule", false, 5}, [](const JournalRow& row) {
    return Table::Cell{row.event.rule, Colour::kDim};
  });
  return columns;
}

// What those leave out, for the person.
std::string_view hidden_columns(size_t width) {
  if (width == 0 || width >= kWhole) return "";
  return width >= kMedium ? "run and rule" : "run, count, program and rule";
}

// The variables that a run was started without in one row: each start has dozens, unasked for.
std::vector<JournalRow> fold_variables(const std::vector<JournalRow>& rows) {
  std::vector<JournalRow> folded;
  // By run: its row, and how many more that stands for.
  std::map<std::string, std::pair<size_t, size_t>> of_run;
  for (const JournalRow& row : rows) {
    if (row.event.kind == Kind::kEnvironment && row.event.verdict == Verdict::kDeny) {
      const auto [at, first] = of_run.try_emplace(row.run.id, folded.size(), 0);
      if (!first) {
        ++at->second.second;
        folded[at->second.first].event.count += row.event.count;
        continue;
      }
    }
    folded.push_back(row);
  }
  for (const auto& [run, place] : of_run)
    if (place.second > 0)
      folded[place.first].event.resource += fmt::format(" and {} more", place.second);
  return folded;
}

std::string rows_text(const std::vector<JournalRow>& rows, const LogOptions& options, bool titles) {
  if (options.json) {
    std::string out;
    for (const JournalRow& row : rows) out += to_line(row_json(row));
    return out;
  }
  const size_t width = terminal_width(STDOUT_FILENO);
  const auto now = Clock::now();
  const auto today = parse_since(local_text(now).substr(0, 10), now);
  const bool all_today = std::all_of(rows.begin(), rows.end(), [&](const JournalRow& row) {
    return today && row.event.time >= *today;
  });
  const std::vector<LogColumn> shown = columns_for(width, all_today);
  std::vector<Table::Column> columns;
  columns.reserve(shown.size());
  for (const LogColumn& each : shown) columns.push_back(each.column);
  Table table(std::move(columns));
  for (const JournalRow& row : options.kind.empty() ? fold_variables(rows) : rows) {
    std::vector<Table::Cell> cells;
    cells.reserve(shown.size());
    for (const LogColumn& each : shown) cells.push_back(each.cell(row));
    table.add(std::move(cells));
  }
  return table.to_string(width, wants_colour(STDOUT_FILENO), titles);
}

std::string runs_text(const std::vector<RunRow>& rows, bool as_json) {
  std::string out;
  if (as_json) {
    for (const RunRow& row : rows) {
      nlohmann::json value = {{"run", row.run.id},          {"started", utc_text(row.started)},
                              {"ended", nullptr},           {"subject", row.run.subject},
                              {"command", row.run.command}, {"workspace", row.run.workspace},
                              {"audit", row.run.audit},     {"outcome", row.outcome}};
      if (row.ended) value["ended"] = utc_text(*row.ended);
      out += to_line(value);
    }
    return out;
  }
  Table table({{"run"}, {"started"}, {"command", false, 20}, {"outcome", false, 16}});
  for (const RunRow& row : rows)
    table.add({{row.run.id},
               {local_text(row.started)},
               {row.run.command, Colour::kNone, true},
               {row.ended ? row.outcome : "no end recorded", Colour::kDim}});
  return table.to_string(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
}

// Waits between two looks at the journal; false once nobody reads standard output any more.
bool wait_for_more() {
  struct pollfd reader = {.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  const int ready = poll(&reader, 1, 250);
  return ready <= 0 || (reader.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

// The runs whose id starts with `text`; "last" is the newest.
Result<std::string> run_id(const std::string& file, const std::string& text) {
  JournalFilter filter;
  if (text == "last") filter.limit = 1;
  auto rows = read_runs(file, filter);
  // No journal has no run of that id.
  if (!rows.ok() && (rows.error().errno_value != ENOENT || text == "last"))
    return std::move(rows).error();
  std::string found;
  for (const RunRow& row : rows.ok() ? *rows : std::vector<RunRow>()) {
    if (text != "last" && !row.run.id.starts_with(text)) continue;
    if (!found.empty())
      return Error{.message =
                       fmt::format("--run {}: several runs start so; give more of it", text)};
    found = row.run.id;
  }
  if (found.empty())
    return Error{.message =
                     fmt::format("--run {}: no such run; `bulkhead log --runs` lists them", text)};
  return found;
}

// Who asks for something by name sees all of it; so do programs.
bool shows_groundwork(const LogOptions& options) {
  if (options.brief) return false;
  return options.all || options.json || !options.kind.empty() || !options.path.empty() ||
         !options.program.empty();
}

Result<JournalFilter> filter_of(const LogOptions& options, const std::string& file) {
  JournalFilter filter;
  if (!options.run.empty()) {
    BULKHEAD_TRY(filter.run, run_id(file, options.run));
  }
  filter.subject = options.subject;
  filter.resource_part = options.path;
  filter.program_part = options.program;
  if (options.denied) filter.verdict = Verdict::kDeny;
  if (!options.kind.empty()) {
    filter.kind = kind_of(options.kind);
    if (!filter.kind)
      return Error{.message = fmt::format("--kind {}: no kind of access; {}", options.kind,
                                          suggestion(options.kind, kKindLabels))};
  }
  if (!options.since.empty()) {
    filter.since = parse_since(options.since, Clock::now());
    if (!filter.since)
      return Error{.message = fmt::format(
                       "--since {}: neither an age such as 90s, 10m, 2h or 3d nor a time such as "
                       "2026-01-31 or 2026-01-31T14:30",
                       options.since)};
  }
  filter.limit = options.limit;
  if (!options.limit_given && !options.json && isatty(STDOUT_FILENO) != 0)
    filter.limit = kOnTerminal;
  return filter;
}

int log_it(const LogOptions& options) {
  const auto fail = [](const Error& error) {
    complain(error);
    return kExitFailed;
  };
  if (options.runs && options.follow)
    return fail(Error{.message = "--follow: a list of runs (--runs) cannot be followed, accesses "
                                 "can: leave out one of the two"});
  auto places = find_places();
  if (!places.ok()) return fail(places.error());
  const std::string file = places->journal();
  // No journal, or one that nothing was written to.
  const auto fail_to_read = [&fail](const Error& error) {
    if (error.errno_value != ENOENT) return fail(error);
    complain("the journal is empty: no program has been run in a compartment yet");
    return 0;
  };
  auto filter = filter_of(options, file);
  if (!filter.ok()) return fail_to_read(filter.error());
  if (options.runs) {
    auto rows = read_runs(file, *filter);
    if (!rows.ok()) return fail_to_read(rows.error());
    if (rows->empty() && !options.json) complain("no run of the journal matches");
    return print(rows->empty() ? "" : runs_text(*rows, options.json)) ? 0 : kExitFailed;
  }
  bool first = true;
  const JournalFilter asked = *filter;
  while (true) {
    auto rows =
        shows_groundwork(options) ? read_journal(file, *filter) : read_journal_brief(file, *filter);
    if (!rows.ok() && !(options.follow && rows.error().errno_value == ENOENT))
      return fail_to_read(rows.error());
    if (rows.ok() && !rows->empty()) {
      for (const JournalRow& row : *rows)
        filter->after_row = std::max(filter->after_row, row.revision);
      // They are in the order in which they were written, several at a time.
      std::stable_sort(rows->begin(), rows->end(), [](const JournalRow& a, const JournalRow& b) {
        return a.event.time < b.event.time;
      });
      if (!print(rows_text(*rows, options, first))) return kExitFailed;
      first = false;
      filter->limit = 0;
    } else if (!options.follow) {
      complain("no entry of the journal matches");
    }
    if (!options.follow || !wait_for_more()) break;
  }
  if (!shows_groundwork(options) && !options.brief)
    if (const auto more = holds_groundwork(file, asked); more.ok() && *more)
      complain("what extension hosts need for themselves is left out: --all shows it");
  const std::string_view hidden =
      first || options.json ? "" : hidden_columns(terminal_width(STDOUT_FILENO));
  if (!hidden.empty()) complain(fmt::format("{}: a wider terminal or --json shows them", hidden));
  return 0;
}

}  // namespace

Action add_log(CommandLine& line) {
  auto options = std::make_shared<LogOptions>();
  const auto option = [&line](const char* name, std::string& into, const char* about,
                              const char* type) {
    line.add_option(name, into, about).type_name(type).check(not_empty);
  };
  option("--run", options->run, "of this run (start of its id, or \"last\")", "ID");
  const Option all = line.add_flag(
      "--all", options->all,
      "also what every extension host needs for itself: Node, VS Code, system libraries");
  line.add_flag("--brief", options->brief,
                "not that, as in tables without --kind, --path, --program")
      .excludes(all);
  line.add_flag("--denied", options->denied, "what was denied, or would have been in an audit");
  option("--kind", options->kind, "of this kind",
         fmt::format("{}", fmt::join(kKindLabels, "|")).c_str());
  option("--program", options->program, "by programs whose path contains this", "TEXT");
  option("--path", options->path, "of resources that contain this", "TEXT");
  option("--subject", options->subject, "of this extension or program", "NAME");
  option("--since", options->since, "not older than 10m, 2h, 3d, or a date", "TIME");
  const Option limit =
      line.add_option("--limit", options->limit,
                      "the newest ones (default: 100 on a terminal, else all; 0: all)")
          .type_name("NUMBER")
          // The parser takes "-1" for the largest number there is.
          .check([](const std::string& text) {
            return text.starts_with('-') ? "must be 0 or more, not " + text : std::string();
          });
  line.add_flag("--runs", options->runs,
                "list the runs that have such an access, not the accesses");
  line.add_flag("--follow,-f", options->follow,
                "go on as more is recorded, in the order in which it is recorded");
  line.add_flag("--json", options->json, "one JSON object a line");
  line.footer(
      "Exit code: 0 also where nothing matches, 125 bulkhead itself failed or there is no such "
      "run.");
  return [options, limit](const std::vector<std::string>&) {
    options->limit_given = limit.given();
    return log_it(*options);
  };
}

}  // namespace bulkhead
