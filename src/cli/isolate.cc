// bulkhead isolate: a worker of the JavaScript sandbox in a compartment that holds one shared
// memory and nothing else; or the process that keeps the journal of all workers of a program.
// Started by the Node package (js/lib/launcher.cjs, journal.cjs), not by people.
#include <fcntl.h>

#include "cli/terminal.h"
#include "cli/verb.h"
#include "sandbox/limits/outcome.h"
#include "session/joined.h"
#include "session/session.h"
#include "trace/packets.h"

namespace bulkhead {
namespace {

// Standard input is the worker's memory. The pipe ends the compartment with the host that holds its
// other end.
constexpr int kHostPipe = 3;
// Where decisions are told, with --journal; the compartment does not get it.
constexpr int kJournalSocket = 4;

struct WorkerOptions {
  std::vector<std::string> read;
  std::string memory, preload, version, journal_file;
  bool journal = false, keep_journal = false;
};

int fail(const Error& error) {
  complain(error);
  return kExitFailed;
}

// Standard input is where packets come from.
int keep(const std::string& named) {
  std::string file = named;
  if (file.empty()) {
    const auto places = find_places();
    if (!places.ok()) return fail(places.error());
    file = places->journal();
  }
  const Status kept = keep_journal(STDIN_FILENO, file);
  if (kept.ok()) return 0;
  complain("decisions of JavaScript sandboxes are not recorded (option `journal`): " +
           to_string(kept.error()));
  return kExitFailed;
}

int isolate(const WorkerOptions& options, const std::vector<std::string>& command) {
  if (options.keep_journal) return keep(options.journal_file);
  if (command.empty() || ::fcntl(kHostPipe, F_SETFD, FD_CLOEXEC) != 0 ||
      (options.journal && ::fcntl(kJournalSocket, F_SETFD, FD_CLOEXEC) != 0)) {
    complain("`bulkhead isolate` is started by the Node package");
    return kExitFailed;
  }
  if (!options.version.empty() && options.version != BULKHEAD_VERSION) {
    complain("this is bulkhead " BULKHEAD_VERSION ", and the Node package is " + options.version +
             ": install the same of both");
    return kExitFailed;
  }
  const auto places = find_places();
  if (!places.ok()) return fail(places.error());
  PolicyOptions policy;
  policy.manifest = places->data + "/manifests/isolate-worker.json";
  policy.read = options.read;
  policy.memory = options.memory;
  // What the manifest grants is the system's libraries, which hold nothing of anybody's; the rest
  // is denied without a list. To compile that takes a fifth of a start.
  policy.unblock = {"all"};
  SessionRequest request;
  request.command = command;
  request.otherwise = Otherwise::kDeny;
  request.nobody_answers = true;
  auto session = open_session(policy, request);
  if (!session.ok()) return fail(session.error());
  PlanRequest wanted;
  wanted.policy = session->policy;
  wanted.command = command;
  wanted.command.front() = session->program->path;
  wanted.folder = session->folder;
  // By a name in the working folder, because the loader parts what it is told at spaces and colons.
  if (!options.preload.empty())
    wanted.environment.passed.push_back("LD_PRELOAD=./" + options.preload);
  auto planned = plan_program(std::move(wanted));
  if (!planned.ok()) return fail(planned.error());
  JoinOptions joining;
  if (options.journal) joining.journal = std::make_unique<PacketJournal>(kJournalSocket);
  Joined joined(std::move(*planned), std::move(joining));
  SupervisorOptions supervisor;
  supervisor.end_fd = kHostPipe;
  auto report = joined.supervise(supervisor);
  const Status told = options.journal ? joined.journal()->flush() : Status();
  if (!told.ok()) complain(told.error());
  if (!report.ok()) return fail(report.error());
  const int code = exit_code(report->outcome);
  // As for `run`: what was not recorded must not look like what went well.
  return told.ok() || code != 0 ? code : kExitFailed;
}

}  // namespace

Action add_isolate(CommandLine& line) {
  auto options = std::make_shared<WorkerOptions>();
  line.add_option("--read", options->read, "what the worker is made of").type_name("PATH");
  line.add_option("--memory", options->memory, "memory of the whole process").type_name("SIZE");
  line.add_option("--preload", options->preload, "a library in the working folder")
      .type_name("NAME");
  line.add_option("--for", options->version, "of which version the Node package is")
      .type_name("VERSION");
  line.add_flag("--journal", options->journal, "descriptor 4 is told what is refused");
  line.add_flag("--keep-journal", options->keep_journal, "keeps what comes by standard input");
  line.add_option("--journal-file", options->journal_file, "where, if not in the user's journal")
      .type_name("FILE");
  return [options](const std::vector<std::string>& rest) { return isolate(*options, rest); };
}

}  // namespace bulkhead
