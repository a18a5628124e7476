// execve and execveat. The kernel reads the path again when it goes on, so a decision here is
// hygiene (SECURITY.md): what really started is compared afterwards, and where the policy denies
// what it does not name, Landlock's EXECUTE right decides once more.
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "policy/executable_trees.h"
#include "sandbox/calls/common.h"
#include "sandbox/kernel/kernel.h"

namespace bulkhead {

namespace {

constexpr int kMostInterpreters = 4;  // as the kernel's: a script's interpreter may be a script
constexpr size_t kHead = 256;         // BINPRM_BUF_SIZE

enum class Format : uint8_t { kNative, kScript, kOther };

// What the kernel will make of the file. Scripts: *interpreter is the path after "#!".
Format format_of(int path_fd, std::string* interpreter) {
  const Fd file(::open(OwnLink(path_fd).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return Format::kOther;
  char head[kHead] = {};
  const ssize_t n = ::read(file.get(), head, sizeof head);
  if (n < 4) return Format::kOther;
  if (std::memcmp(head, ELFMAG, SELFMAG) == 0) {
    const bool native = head[EI_CLASS] == ELFCLASS64 && n > 20 &&
                        static_cast<unsigned char>(head[18]) == EM_X86_64 && head[19] == 0;
    return native ? Format::kNative : Format::kOther;
  }
  if (head[0] != '#' || head[1] != '!') return Format::kOther;
  std::string_view line(head + 2, static_cast<size_t>(n) - 2);
  line = line.substr(0, line.find('\n'));
  while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
  *interpreter = std::string(line.substr(0, line.find_first_of(std::string_view(" \t\0", 3))));
  return interpreter->empty() ? Format::kOther : Format::kScript;
}

std::optional<Processes::Executable> identify(const Found& found) {
  struct stat about {};
  if (::fstat(found.fd.get(), &about) != 0) return std::nullopt;
  return Processes::Executable{about.st_dev, about.st_ino};
}

// Runs from memory, or from a file without a name, cannot be decided by path: only whoever may run
// everything may do that.
std::optional<Reply> refuse_nameless(Call& call, const Found& found) {
  const auto& judge = call.service().judge;
  if (judge.enforcement() == Enforcement::kAuditOnly ||
      judge.policy().decide_path(Kind::kRun, "/").verdict == Verdict::kAllow)
    return std::nullopt;
  call.note_refusal(Kind::kRun, found.canonical, "a program without a path");
  return Reply::error(EACCES);
}

// The ruleset is as it was at the start: what the policy allows and it does not would end in a
// refusal by the kernel that nobody is told of.
std::optional<Reply> refuse_stuck(Call& call, const Found& found) {
  const auto& rules = call.service().plan.landlock;
  const auto gives = [&rules](auto covers) {
    return std::any_of(rules.begin(), rules.end(), [&covers](const LandlockRule& rule) {
      return (rule.access & kLandlockExecute) != 0 && covers(rule.path);
    });
  };
  const auto same = [&found](const std::string& path) {
    struct stat a = {};
    struct stat b = {};
    return ::stat(path.c_str(), &a) == 0 && ::fstat(found.fd.get(), &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  };
  if (call.is_own(found.canonical) && starts_programs(call, found.canonical)) return std::nullopt;
  if (gives([&found](const std::string& path) { return is_within(found.canonical, path); }) ||
      gives(same))
    return std::nullopt;
  call.note_refusal(Kind::kRun, found.canonical, kCannotStart);
  return Reply::error(EACCES);
}

// The kernel lets nobody look into a process of such a file (ptrace(2), "dumpable"), so that no
// call of it that names a path could be served; and whether it is a script, and of which
// interpreter, cannot be told. Root's compartments map all ids: their processes are within the
// supervisor's reach.
bool is_unreadable(const char* file) {
  return ::geteuid() != 0 && ::access(file, R_OK) != 0 && errno == EACCES;
}

Reply refuse_unreadable(Call& call, std::string_view canonical) {
  call.note_refusal(Kind::kRun, canonical,
                    "this user may execute it, but not read it, and what cannot be read cannot be "
                    "confined: make it readable");
  return Reply::error(EACCES);
}

}  // namespace

Reply serve_execute(Call& call) {
  const bool at = call.number() == __NR_execveat;
  const int folder = at ? call.fd_arg(0) : AT_FDCWD;
  const uint32_t flags = at ? call.flags_arg(4) : 0;
  Service& service = call.service();
  const Walker& walker = service.walker;
  std::string path;
  if (const int error = walker.read_path(call, call.arg(at ? 1 : 0), &path); error != 0)
    return Reply::error(error);

  // The start of the compartment: the plan's own program, called by our own code.
  if (call.tid() == service.compartment.program && path == service.plan.program &&
      service.processes.take_first_exec() && !is_unreadable(path.c_str()))
    return Reply::go_on();

  Found found;
  Spelling spelling;
  if (path.empty()) {
    if ((flags & AT_EMPTY_PATH) == 0) return Reply::error(ENOENT);
    if (const int error = walker.resolve_descriptor(call, folder, &found); error != 0)
      return Reply::error(error);
  } else {
    if (const int error = walker.spell(call, folder, path, &spelling); error != 0)
      return Reply::error(error);
    const Follow follow = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? Follow::kNo : Follow::kYes;
    if (const int error = walker.resolve(call, spelling, follow, &found); error != 0) {
      if (error == ENOENT) note_unseen(call, spelling, found);
      return Reply::error(error);
    }
  }
  if (const int error = Walker::look(&found); error != 0) return Reply::error(error);
  if (!S_ISREG(found.type)) return Reply::error(S_ISLNK(found.type) ? ELOOP : EACCES);
  // The kernel's own refusal, before anybody is asked.
  if (::access(OwnLink(found.fd.get()).text, X_OK) != 0) return Reply::error(EACCES);

  if (!found.is_path) {
    if (auto no = refuse_nameless(call, found)) return std::move(*no);
  } else {
    if (auto no = refuse_name(call, Kind::kRun, spelling, found.canonical)) return std::move(*no);
    if (auto no = call.refuse_unless(Kind::kRun, found.canonical)) return std::move(*no);
    if (auto no = refuse_stuck(call, found)) return std::move(*no);
  }

  if (is_unreadable(OwnLink(found.fd.get()).text)) return refuse_unreadable(call, found.canonical);

  // Whoever reads the script is the program, so it is decided on too.
  Found running = std::move(found);
  for (int i = 0;; ++i) {
    std::string interpreter;
    const Format format = format_of(running.fd.get(), &interpreter);
    if (format == Format::kNative) break;
    if (format == Format::kOther || i == kMostInterpreters) {
      // The kernel may hand it to an interpreter that only it knows (binfmt_misc).
      const auto status = service.processes.status(call.tid());
      if (!status || !call.still_valid()) return Reply::error(EINTR);
      service.processes.forget_expected(status->process);
      service.processes.note_exec(call.tid());
      return Reply::go_on();
    }
    Spelling its;
    Found next;
    if (const int error = walker.spell(call, AT_FDCWD, interpreter, &its); error != 0)
      return Reply::error(error);
    if (const int error = walker.resolve(call, its, Follow::kYes, &next); error != 0)
      return Reply::error(error);
    if (!next.is_path) return Reply::error(EACCES);
    if (auto no = call.refuse_unless(Kind::kRun, next.canonical)) return std::move(*no);
    if (auto no = refuse_stuck(call, next)) return std::move(*no);
    if (is_unreadable(OwnLink(next.fd.get()).text)) return refuse_unreadable(call, next.canonical);
    running = std::move(next);
  }

  const auto wanted = identify(running);
  const auto present = Processes::executable_of(call.tid());
  const auto status = service.processes.status(call.tid());
  if (!wanted || !present || !status || !call.still_valid()) return Reply::error(EINTR);
  if (service.plan.enforcement == Enforcement::kEnforce)
    service.processes.expect(status->process, *present, *wanted);
  service.processes.note_exec(call.tid());
  return Reply::go_on();
}

}  // namespace bulkhead
