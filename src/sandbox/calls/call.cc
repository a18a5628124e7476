#include "sandbox/calls/call.h"

#include <cerrno>
#include <functional>

#include "sandbox/caller/walker.h"
#include "sandbox/home/home_size.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

namespace {

constexpr std::string_view kProc = "/proc/";

// Why a place below /proc/PID is refused whatever the policy says; nullptr where it is not.
const char* proc_refusal(const Call& call, const ProcPlace& place, Kind kind) {
  const std::string_view rest = place.rest;
  // Its name is no secret: a bulkhead that is started inside knows by it where it is.
  const bool is_its_name = kind == Kind::kRead && rest == "/comm";
  if (place.inner_process == 1 && !is_its_name)
    return "the compartment's first process is bulkhead's own";
  const size_t slash = rest.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? rest : rest.substr(slash + 1);
  if (last == "mem") {
    const auto own = call.service().processes.status(call.tid());
    if (!own ||
        (place.inner_process != own->inner_process && place.inner_process != own->inner_thread))
      return "memory of another process";
  }
  // These are judged by the privileges of whoever opened them, and that would be the supervisor.
  if (last == "pagemap" || last == "stack") return "kernel addresses";
  if (kind != Kind::kRead &&
      (last == "uid_map" || last == "gid_map" || last == "projid_map" || last == "setgroups"))
    return "identity maps of the compartment";
  if (kind != Kind::kRead && last == "autogroup") return "the priority of the user's whole session";
  return nullptr;
}

}  // namespace

namespace {

// Names the caller to the judge, which asks for the program only when it has not met it.
class AttemptOfCall {
 public:
  explicit AttemptOfCall(const Call& call)
      : program_([tid = call.tid()] { return Processes::program(tid); }) {
    const CallRow* const row = find_call(call.number());
    const Processes::Who who = call.service().processes.who(call.tid());
    attempt_.pid = who.process;
    attempt_.execs = who.execs;
    attempt_.detail = row != nullptr ? row->name : "?";
    attempt_.program = &program_;
    if (call.tid() == call.service().compartment.program) attempt_.waits = Waits::kMain;
  }
  const Attempt& attempt() const { return attempt_; }

 private:
  std::function<std::string()> program_;
  Attempt attempt_;
};

}  // namespace

pid_t Call::process() const { return service_.processes.who(tid()).process; }

Judge::Ruling Call::decide(Kind kind, std::string_view canonical, Recount* recount) {
  const AttemptOfCall named(*this);
  const Attempt& attempt = named.attempt();
  if (canonical.substr(0, kProc.size()) == kProc && kind != Kind::kRun) {
    if (const auto place = parse_proc(canonical)) {
      if (const char* reason = proc_refusal(*this, *place, kind)) {
        service_.judge.note_refusal(kind, canonical, reason, attempt);
        return Judge::Ruling::kDeny;
      }
      // Only the compartment's own processes are here, so one spelling serves the rules.
      std::string own = "/proc/self";
      own += place->rest;
      return service_.judge.path(kind, own, attempt, may_block_);
    }
  }
  if (is_own(canonical)) return Judge::Ruling::kAllow;
  if (service_.walker.is_foreign_proc(canonical)) {
    service_.judge.note_refusal(kind, canonical, "a /proc of other processes", attempt);
    return Judge::Ruling::kDeny;
  }
  return service_.judge.path(kind, canonical, attempt, may_block_, recount);
}

Judge::Ruling Call::decide_connect(const IpAddress& address, uint16_t port,
                                   std::span<const std::string_view> names) {
  const AttemptOfCall named(*this);
  return service_.judge.connect(address, port, names, named.attempt(), may_block_);
}

void Call::note_listening(uint16_t port) const {
  if (service_.ports == nullptr) return;
  const AttemptOfCall named(*this);
  service_.ports->listens(port, named.attempt());
}

Judge::Ruling Call::would_rule(Kind kind, std::string_view canonical) const {
  if (canonical.substr(0, kProc.size()) == kProc || service_.walker.is_foreign_proc(canonical))
    return Judge::Ruling::kDeny;
  if (is_own(canonical)) return Judge::Ruling::kAllow;
  return service_.judge.would_rule(kind, canonical);
}

bool Call::has_no_room(std::string_view canonical) const {
  return service_.home_size != nullptr && service_.home_size->full() && is_own(canonical);
}

std::optional<Reply> Call::refuse_unless(Kind kind, std::string_view canonical) {
  switch (decide(kind, canonical)) {
    case Judge::Ruling::kAllow:
      return std::nullopt;
    case Judge::Ruling::kWouldAsk:
      return Reply::later();
    case Judge::Ruling::kDeny:
      break;
  }
  return Reply::error(EACCES);
}

int Call::write(uint64_t address, const void* from, size_t size) const {
  if (!still_valid()) return EINTR;
  return memory().write(address, from, size).ok() ? 0 : EFAULT;
}

void Call::note_refusal(Kind kind, std::string_view resource, std::string_view reason) {
  if (!still_valid()) return;
  const AttemptOfCall named(*this);
  const Attempt& attempt = named.attempt();
  service_.judge.note_refusal(kind, resource, reason, attempt);
}

}  // namespace bulkhead
