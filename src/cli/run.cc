// bulkhead run: starts a program in a compartment and tells, at its end, what was denied.
#include <fmt/format.h>
#include <malloc.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "base/path.h"
#include "cli/dry_run.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/explain.h"
#include "policy/lifts.h"
#include "policy/lint.h"
#include "sandbox/limits/outcome.h"
#include "session/inside.h"
#include "session/joined.h"
#include "session/session.h"
#include "session/shims.h"
#include "session/told.h"
#include "terminal/asker.h"
#include "terminal/monitor.h"
#include "terminal/user_terminal.h"

extern char** environ;

namespace bulkhead {
namespace {

struct RunOptions {
  PolicyOptions policy;
  std::string dns;
  bool audit = false, quiet = false, json = false, dry_run = false, serve_every_call = false;
};

// A line to copy, and no more than a line.
std::string command_text(const std::vector<std::string>& command) {
  constexpr size_t kMost = 4096;
  std::string out;
  for (const std::string& word : command) {
    out.append(out.empty() ? "" : " ").append(shell_word(word));
    if (out.size() <= kMost) continue;
    out.resize(kMost);
    out.append("…");
    break;
  }
  return out;
}

// Ends as the program ended: a shell, make or CI tells an interrupted job by its signal.
int end_like(const Outcome& outcome) {
  if (const auto* signaled = std::get_if<Signaled>(&outcome)) {
    // No core dump of ours for a crash of theirs.
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(signaled->signal, &usual, nullptr);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signaled->signal);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    raise(signaled->signal);
  }
  return exit_code(outcome);
}

// Maps what a start takes of the heap beside the start itself: five hundred page faults would be a
// tenth of it. Nothing depends on it.
std::thread warm_heap() {
  constexpr size_t kSize = 2 << 20;
  mallopt(M_MMAP_THRESHOLD, 4 * kSize);
  mallopt(M_TRIM_THRESHOLD, 4 * kSize);
  void* block = std::malloc(kSize);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(block) + page - 1) & ~(page - 1);
  std::free(block);
  // Changes no byte, so it does not matter who has the memory by now (madvise(2)). In steps, since
  // each holds the lock that another thread's mmap() waits for.
  return std::thread([begin] {
    constexpr size_t kStep = 32 << 10;
    for (size_t at = 0; at + kStep < kSize; at += kStep)
      if (madvise(reinterpret_cast<void*>(begin + at), kStep, MADV_POPULATE_WRITE) != 0) return;
  });
}

int fail(const Error& error) {
  complain(error);
  return kExitFailed;
}

// Before what we say on a terminal where the program has spoken.
void take_screen() {
  if (isatty(STDERR_FILENO) != 0) static_cast<void>(write_all(STDERR_FILENO, plain_screen()));
}

// How a run ended: what its journal holds, and what is said of it.
struct Told {
  const Session& session;
  const Run& row;
  const RunReport& report;
  std::vector<Event> denied;
  Status finished;  // the journal
  size_t unasked = 0;
};

std::string summary_of(const RunOptions& options, const Told& told) {
  const Policy& policy = *told.session.policy;
  if (options.json)
    return to_line(summary_json(refusals(policy, told.denied), told.row, told.report, told.denied));
  if (options.quiet) return {};
  // That a port stayed inside was told when it was listened at.
  std::vector<Event> denied = told.denied;
  std::erase_if(denied, [](const Event& event) { return event.kind == Kind::kListen; });
  std::vector<Refusal> refused = refusals(policy, denied);
  const auto* exited = std::get_if<Exited>(&told.report.outcome);
  if (exited != nullptr && exited->code == 0 && !options.audit)
    refused = noteworthy(std::move(refused));
  else
    std::erase_if(refused, [](const Refusal& each) { return each.weight == Weight::kNothing; });
  // The environment is much the same in each run: the same variables are told once for a workspace.
  std::string withheld = withheld_text(policy, denied, told.report.outcome);
  if (!withheld.empty() &&
      !first_time(told.session.places.state + "/told", told.row.workspace + "\n" + withheld))
    withheld.clear();
  return summary_text(folded(policy, std::move(refused)), told.row,
                      liftable_groups(told.session.inputs.blocklists),
                      {terminal_width(STDERR_FILENO), wants_colour(STDERR_FILENO)}) +
         withheld;
}

void tell(const RunOptions& options, const Told& told) {
  const Outcome& outcome = told.report.outcome;
  const bool expected = std::holds_alternative<Exited>(outcome) ||
                        std::holds_alternative<Signaled>(outcome) || options.json;
  const std::string summary = summary_of(options, told);
  const size_t unasked = options.json || options.quiet ? 0 : told.unasked;
  if (!told.finished.ok() || !expected || !summary.empty() || unasked > 0) take_screen();
  if (!told.finished.ok()) complain(told.finished.error());
  if (!expected) complain(describe(outcome));
  static_cast<void>(write_all(STDERR_FILENO, summary));
  if (unasked > 0)
    complain(fmt::format("{} {} not asked, which counts as no", unasked,
                         unasked == 1 ? "question was" : "questions were"));
}

// On the person's terminal where the program has that.
void say(TerminalMonitor* monitor, const std::string& text) {
  if (monitor != nullptr)
    monitor->say("bulkhead: " + escape_quoted(text) + "\n");
  else
    complain(text);
}

// One line that is true now and tells what to do.
std::string port_text(const PortNews& news) {
  const std::string program =
      escape_for_display(news.program.empty() ? "a server" : last_of(news.program));
  switch (news.what) {
    case PortNews::What::kInside:
      return fmt::format(
          "{0} listens at port {1} inside, where your browser does not reach it; "
          "with --listen {1} it does",
          program, news.port);
    case PortNews::What::kElsewhere:
      return fmt::format("{}: {} is reached at http://localhost:{}", news.why, program,
                         news.outside);
    case PortNews::What::kFailed:
      break;
  }
  return fmt::format("{} is not reached at port {}: {}", program, news.port, news.why);
}

// At the person's terminal where there is one: `monitor` is null otherwise.
Result<RunReport> supervise_here(const RunOptions& options, const Session& session, Joined& joined,
                                 TerminalMonitor* monitor) {
  SupervisorOptions supervisor;
  supervisor.dns_server = options.dns;
  supervisor.port_news = [&options, monitor](const PortNews& news) {
    if (news.what == PortNews::What::kInside && (options.quiet || options.json)) return;
    say(monitor, port_text(news));
  };
  if (monitor != nullptr) {
    joined.plan().new_session = false;  // the monitor leads one
    joined.plan().stdio = monitor->stdio();
    supervisor.started = [&](int, pid_t program) {
      monitor->started(program, session.places.state + "/question.lock");
    };
    supervisor.stopped = [monitor](int signal) { monitor->stopped(signal); };
  }
  auto report = joined.supervise(std::move(supervisor));
  if (monitor != nullptr) monitor->finish();
  return report;
}

Result<Run> row_of(const RunOptions& options, const Session& session,
                   const std::vector<std::string>& command) {
  Run row;
  BULKHEAD_TRY(row.id, new_run_id());
  row.subject = session.subject;
  row.command = command_text(command);
  const auto& workspace = session.inputs.variables.workspace;
  row.workspace = workspace.empty() ? "" : workspace.front();
  row.audit = options.audit;
  return row;
}

int perform(const RunOptions& options, const Session& session, const Run& row, Planned planned,
            std::unique_ptr<Journal> journal, TerminalMonitor* monitor) {
  std::unique_ptr<TerminalAsker> asker;
  if (monitor != nullptr && session.policy->otherwise() == Otherwise::kAsk)
    asker = std::make_unique<TerminalAsker>(*monitor, TerminalAsker::Options());
  JoinOptions joining;
  joining.journal = std::move(journal);
  joining.asker = asker.get();
  joining.subject = session.answers_for;
  joining.digest = session.inputs.manifest.digest;
  joining.grants = session.places.grants();
  const auto& workspace = session.inputs.variables.workspace;
  joining.folder = workspace.empty() ? "" : workspace.front();
  joining.on_warning = [monitor](const std::string& text) { say(monitor, text); };
  Joined joined(std::move(planned), std::move(joining));
  const auto report = supervise_here(options, session, joined, monitor);
  if (!report.ok()) {
    static_cast<void>(joined.finish("did not start: " + report.error().message));
    return fail(report.error());
  }
  // From here on a reader that went away is no reason to lose the exit code.
  std::signal(SIGPIPE, SIG_IGN);
  Status finished = joined.finish(describe(report->outcome));
  const Told told{session,
                  row,
                  *report,
                  joined.journal()->denied(),
                  std::move(finished),
                  joined.arbiter().unasked()};
  tell(options, told);
  // A run whose record was lost must not look like one that went well.
  if (!told.finished.ok() && exit_code(report->outcome) == 0) return kExitFailed;
  joined.empty_home();
  // The journal is finished, and the kernel takes back at once what destructors would give back
  // piece by piece.
  std::fflush(nullptr);
  _exit(end_like(report->outcome));
}

// `monitor` is null where there is no terminal.
int run_here(const RunOptions& options, const std::vector<std::string>& command,
             TerminalMonitor* monitor) {
  const bool person =
      !options.audit &&
      (monitor != nullptr ? monitor->may_ask() : options.dry_run && is_terminal_there());
  SessionRequest request;
  request.command = command;
  request.make_folders = !options.dry_run;
  request.otherwise = person ? Otherwise::kAsk : Otherwise::kDeny;
  request.nobody_answers = !person;
  int not_run = 0;
  request.not_run = &not_run;
  // It is ready when the policy is.
  std::optional<JournalOpening> opening;
  if (!options.dry_run)
    if (const auto places = find_places(); places.ok()) opening.emplace(places->journal());
  std::thread warming = warm_heap();
  const auto opened = open_session(options.policy, request);
  warming.join();
  if (!opened.ok()) {
    complain(opened.error());
    // As a shell says it, but only where the program was the cause.
    if (not_run == 0) return kExitFailed;
    return not_run == ENOENT ? kExitNotFound : kExitCannotRun;
  }
  const Session& session = *opened;
  if (!options.quiet)
    for (const std::string& text : idle_flags(session.inputs, *session.policy)) complain(text);
  auto planned = plan_session(session, command, environ,
                              {.audit = options.audit,
                               .serve_every_call = options.serve_every_call,
                               .dry = options.dry_run,
                               .private_home = options.policy.private_home});
  if (!planned.ok()) return fail(planned.error());
  if (options.dry_run) {
    const Plan& plan = planned->plan;
    return print(options.json ? to_line(plan_json(plan)) : plan_text(plan)) ? 0 : kExitFailed;
  }
  const auto row = row_of(options, session, command);
  if (!row.ok()) return fail(row.error());
  auto journal = opening->start(*row);  // open_session() has found the places, too
  if (!journal.ok()) return fail(unwritable_state(session.places, journal.error()));
  return perform(options, session, *row, std::move(*planned), std::move(*journal), monitor);
}

// What a terminal would start for this person.
std::string own_shell() {
  const auto usable = [](const char* path) {
    return path != nullptr && path[0] == '/' && access(path, X_OK) == 0;
  };
  if (const char* const named = std::getenv("SHELL"); usable(named)) return named;
  const passwd* const entry = getpwuid(geteuid());
  return entry != nullptr && usable(entry->pw_shell) ? entry->pw_shell : "/bin/sh";
}

// The first option that bounds what the program may, or asks for a record of it; "" for none.
std::string bounding_option(const RunOptions& options) {
  const PolicyOptions& policy = options.policy;
  const std::pair<bool, const char*> bounds[] = {{!policy.manifest.empty(), "--manifest"},
                                                 {policy.private_home.has_value(), "--private"},
                                                 {policy.otherwise == "deny", "--otherwise"},
                                                 {!policy.memory.empty(), "--memory"},
                                                 {policy.cpu.has_value(), "--cpu"},
                                                 {!policy.cpu_time.empty(), "--cpu-time"},
                                                 {!policy.wall_time.empty(), "--wall-time"},
                                                 {policy.processes.has_value(), "--processes"},
                                                 {policy.files.has_value(), "--files"},
                                                 {!policy.written.empty(), "--written"},
                                                 {!policy.home.empty(), "--home"},
                                                 {options.audit, "--audit"},
                                                 {options.json, "--json"},
                                                 {options.dry_run, "--dry-run"}};
  for (const auto& [given, name] : bounds)
    if (given) return name;
  return "";
}

// In a compartment there is none to be made, and what is run there is in it. Options that grant
// more are the outer run's to give; those that bound would be lost without a word.
int run_nested(const RunOptions& options, const std::vector<std::string>& command) {
  if (const std::string bound = bounding_option(options); !bound.empty()) {
    complain(
        fmt::format("{} cannot be kept: this is a compartment already, and there are none "
                    "within one; give it to the outer `bulkhead run`",
                    bound));
    return kExitFailed;
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  const int error = errno;
  complain(fmt::format("{}: {}", command.front(), std::strerror(error)));
  return error == ENOENT ? kExitNotFound : kExitCannotRun;
}

int run(const RunOptions& options, std::vector<std::string> command) {
  if (command.empty()) {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
      complain("no program to run: bulkhead run [options] -- PROGRAM ARGS");
      return kExitFailed;
    }
    command.push_back(own_shell());
  }
  leave_shims();
  if (inside_compartment()) return run_nested(options, command);
  if (options.dry_run) return run_here(options, command, nullptr);
  auto terminal = UserTerminal::find();
  if (!terminal.ok()) return fail(terminal.error());
  if (!*terminal) return run_here(options, command, nullptr);
  // From here on this is the relay's child, where there are two processes.
  const auto monitor = TerminalMonitor::begin(std::move(**terminal));
  if (!monitor.ok()) return fail(monitor.error());
  return run_here(options, command, monitor->get());
}

}  // namespace

Action add_run(CommandLine& line) {
  auto options = std::make_shared<RunOptions>();
  line.examples(
      "  bulkhead run -- npm test                               # no network, no keys\n"
      "  bulkhead run                                           # a shell inside\n"
      "  bulkhead run --connect example.com:443 -- node get.js  # and this host\n"
      "  bulkhead run --listen 5173 -- npm run dev              # reached by a browser\n"
      "  bulkhead run --audit -- ./unknown-tool                 # denies nothing, tells");
  add_policy_options(line, options->policy);
  line.add_flag(
          "--audit", options->audit,
          "deny nothing, record what the policy would have denied; what the system refuses by "
          "itself is not recorded")
      .group("Run");
  line.add_flag("--dry-run", options->dry_run, "print what would be enforced, run nothing")
      .group("Run");
  line.add_option("--dns", options->dns, "ask this name server (default: /etc/resolv.conf)")
      .type_name("ADDRESS[:PORT]")
      .check(not_empty)
      .group("Run");
  line.add_flag("--quiet", options->quiet, "no summary at the end, except that of --json")
      .group("Run");
  line.add_flag("--json", options->json, "the summary as one line of JSON").group("Run");
  line.add_flag("--serve-every-call", options->serve_every_call,
                "leave no decision to the kernel, to compare (slower)")
      .group("Run");
  line.footer(fmt::format(
      "Without PROGRAM, at a terminal: your shell. In a compartment the program is simply run.\n"
      "Exit code: the program's own; where a signal ended it, the same signal. Ended by a limit: "
      "{} --written or --home, {} --memory, {} --cpu-time, {} --wall-time. {} bulkhead itself "
      "failed, {} the program cannot be run, {} there is no such program.",
      kExitWritten, kExitMemory, kExitCpuTime, kExitWallTime, kExitFailed, kExitCannotRun,
      kExitNotFound));
  return [options](const std::vector<std::string>& rest) { return run(*options, rest); };
}

}  // namespace bulkhead
