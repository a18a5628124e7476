// bulkhead run: starts a program in a compartment and tells, at its end, what was denied.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/path.h"
#include "cli/dry_run.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/covers.h"
#include "policy/explain.h"
#include "policy/git_settings.h"
#include "policy/lint.h"
#include "sandbox/home/home_store.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/plan/node_cache.h"
#include "sandbox/run/supervisor.h"
#include "terminal/asker.h"
#include "terminal/monitor.h"
#include "terminal/user_terminal.h"
#include "trace/environment.h"

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
    if (out.size() > kMost) return out.substr(0, kMost) + "…";
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

// What is made in a private home goes here.
struct HomeStore {
  std::string path;  // empty: there is none
  std::optional<PassingStore> passing;
};

Result<HomeStore> open_home(const RunOptions& options, const Session& session) {
  HomeStore home;
  const std::string& state = session.inputs.variables.state;
  // An audit records what a program would do in the machine's, unless told otherwise.
  if (session.policy->private_home().empty() || (options.audit && !options.policy.private_home))
    return home;
  if (!options.policy.private_home) {
    home.path = store_of(state, session.subject);
    if (!options.dry_run) BULKHEAD_CHECK(make_store_of(state, session.subject));
  } else if (options.policy.private_home->empty()) {
    home.path = state + "/homes/run";
    if (options.dry_run) return home;
    BULKHEAD_TRY(home.passing, PassingStore::make(state));
    home.path = home.passing->path();
  } else {
    BULKHEAD_TRY(home.path, typed_path(session, *options.policy.private_home));
    // By that name the program could change what is mounted.
    if (is_within(session.policy->private_home(), home.path) ||
        session.policy->decide_path(Kind::kWrite, home.path).verdict == Verdict::kAllow ||
        session.policy->decide_path(Kind::kWrite, inside(home.path)).verdict == Verdict::kAllow)
      return Error{fmt::format("--private={}: choose a folder that the program may not write",
                               escape_for_display(home.path))};
    if (!options.dry_run) BULKHEAD_CHECK(make_store(home.path));
  }
  // Git goes without where they cannot be had.
  if (!options.dry_run) (void)share_git_settings(session.inputs.variables.home, home.path);
  return home;
}

// Before what we say on a terminal where the program has spoken.
void take_screen() {
  if (isatty(STDERR_FILENO) != 0) static_cast<void>(write_all(STDERR_FILENO, plain_screen()));
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
  // It is ready when the policy is.
  std::optional<JournalOpening> opening;
  if (!options.dry_run)
    if (const auto places = find_places(); places.ok()) opening.emplace(places->journal());
  std::thread warming = warm_heap();
  auto opened = open_session(options.policy, request);
  warming.join();
  if (!opened.ok()) {
    complain(opened.error());
    // As a shell says it, but only where the program was the cause.
    if (opened.error().message.starts_with("cannot run "))
      return opened.error().errno_value == ENOENT ? kExitNotFound : kExitCannotRun;
    return kExitFailed;
  }
  const Session& session = *opened;
  if (!options.quiet)
    for (const std::string& text : idle_flags(session.inputs, *session.policy)) complain(text);

  PlanOptions plan_options;
  plan_options.enforcement = options.audit ? Enforcement::kAuditOnly : Enforcement::kEnforce;
  plan_options.serve_every_call = options.serve_every_call;
  const Variables& variables = session.inputs.variables;
  // Nothing that an earlier run left is to be there when a person answers for this one.
  if (session.policy->otherwise() != Otherwise::kAsk)
    if (auto cache = node_cache(*session.policy, plan_options.enforcement, variables.state,
                                {session.subject, variables.workspace});
        cache && (options.dry_run || make_node_cache(*cache)))
      plan_options.kept.push_back(std::move(*cache));
  const auto home = open_home(options, session);
  if (!home.ok()) return fail(home.error());
  plan_options.home_store = home->path;
  std::vector<std::string> found = command;
  found.front() = session.program->path;
  const GrantedEnvironment granted = grant_environment(*session.policy, environ, options.audit);
  auto plan = make_plan(session.policy, found, granted.passed, session.folder, plan_options);
  if (!plan.ok()) return fail(plan.error());
  plan->argv = command;  // argv[0] as typed, as a shell passes it
  if (options.dry_run) {
    const std::string text = options.json ? to_line(plan_json(*plan)) : plan_text(*plan);
    return print(text) ? 0 : kExitFailed;
  }

  Run run_row;
  auto id = new_run_id();
  if (!id.ok()) return fail(id.error());
  run_row.id = *id;
  run_row.subject = session.subject;
  run_row.command = command_text(command);
  run_row.workspace = variables.workspace.empty() ? "" : variables.workspace.front();
  run_row.audit = options.audit;
  auto journal = opening->start(run_row);  // open_session() has found the places, too
  if (!journal.ok()) return fail(unwritable_state(session.places, journal.error()));
  for (const Event& event : granted.withheld) (*journal)->record(event);

  std::unique_ptr<TerminalAsker> asker;
  if (person && session.policy->otherwise() == Otherwise::kAsk)
    asker = std::make_unique<TerminalAsker>(*monitor, TerminalAsker::Options());
  Arbiter arbiter(session.policy, journal->get(), asker.get(), plan_options.enforcement,
                  [&](const Extra& extra) {
                    GrantStore store(session.places.grants());
                    return store.remember(session.subject, session.inputs.manifest.digest, extra);
                  });
  arbiter.on_warning([monitor](const std::string& text) {
    if (monitor != nullptr)
      monitor->say("bulkhead: " + escape_quoted(text) + "\n");
    else
      complain(text);
  });

  SupervisorOptions supervisor;
  supervisor.dns_server = options.dns;
  if (monitor != nullptr) {
    plan->new_session = false;  // the monitor leads one
    plan->stdio = monitor->stdio();
    supervisor.started = [&](int, pid_t program) {
      monitor->started(program, session.places.state + "/question.lock");
    };
    supervisor.stopped = [monitor](int signal) { monitor->stopped(signal); };
  }
  auto report = supervise(*plan, arbiter, supervisor);
  if (monitor != nullptr) monitor->finish();
  if (!report.ok()) {
    static_cast<void>((*journal)->finish("did not start: " + report.error().message));
    return fail(report.error());
  }
  // From here on a reader that went away is no reason to lose the exit code.
  std::signal(SIGPIPE, SIG_IGN);
  const Status finished = (*journal)->finish(describe(report->outcome));
  const std::vector<Event> denied = (*journal)->denied();
  const bool expected = std::holds_alternative<Exited>(report->outcome) ||
                        std::holds_alternative<Signaled>(report->outcome) || options.json;
  std::string summary;
  if (options.json) {
    summary = to_line(summary_json(refusals(*session.policy, denied), run_row, *report, denied));
  } else if (!options.quiet) {
    summary = summary_text(refusals(*session.policy, denied), run_row,
                           terminal_width(STDERR_FILENO), wants_colour(STDERR_FILENO)) +
              withheld_text(*session.policy, denied, report->outcome);
  }
  const size_t unasked = options.json || options.quiet ? 0 : arbiter.unasked();
  if (!finished.ok() || !expected || !summary.empty() || unasked > 0) take_screen();
  if (!finished.ok()) complain(finished.error());
  if (!expected) complain(describe(report->outcome));
  static_cast<void>(write_all(STDERR_FILENO, summary));
  if (unasked > 0)
    complain(fmt::format("{} {} not asked, which counts as no", unasked,
                         unasked == 1 ? "question was" : "questions were"));
  // A run whose record was lost must not look like one that went well.
  if (!finished.ok() && exit_code(report->outcome) == 0) return kExitFailed;
  asker.reset();
  if (home->passing) home->passing->empty();
  // The journal is finished, and the kernel takes back at once what destructors would give back
  // piece by piece.
  std::fflush(nullptr);
  _exit(end_like(report->outcome));
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) {
    complain("no program to run: bulkhead run [options] -- PROGRAM ARGS");
    return kExitFailed;
  }
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

Action add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_policy_options(app, options->policy);
  app.add_flag("--audit", options->audit,
               "deny nothing, record what the policy would have denied; what the system refuses by "
               "itself is not recorded")
      ->group("Run");
  app.add_flag("--dry-run", options->dry_run, "print what would be enforced, run nothing")
      ->group("Run");
  app.add_option("--dns", options->dns, "ask this name server (default: /etc/resolv.conf)")
      ->type_name("ADDRESS[:PORT]")
      ->check(not_empty)
      ->group("Run");
  app.add_flag("--quiet", options->quiet, "no summary at the end, except that of --json")
      ->group("Run");
  app.add_flag("--json", options->json, "the summary as one line of JSON")->group("Run");
  app.add_flag("--serve-every-call", options->serve_every_call,
               "leave no decision to the kernel, to compare (slower)")
      ->group("Run");
  app.footer(fmt::format(
      "Exit code: the program's own; where a signal ended it, the same signal. Ended by a limit: "
      "{} --written, {} --memory, {} --cpu-time, {} --wall-time. {} bulkhead itself failed, {} the "
      "program cannot be run, {} there is no such program.",
      kExitWritten, kExitMemory, kExitCpuTime, kExitWallTime, kExitFailed, kExitCannotRun,
      kExitNotFound));
  return [options](const std::vector<std::string>& rest) { return run(*options, rest); };
}

}  // namespace bulkhead
