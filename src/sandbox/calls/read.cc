// readlink and inotify_add_watch: both read content without opening, and Landlock ignores both.
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "policy/only_asked.h"
#include "sandbox/calls/common.h"

namespace bulkhead {

Reply serve_readlink(Call& call) {
  const bool at = call.number() == __NR_readlinkat;
  const int folder = at ? call.fd_arg(0) : AT_FDCWD;
  const uint64_t buffer = call.arg(at ? 2 : 1);
  const int size = call.fd_arg(at ? 3 : 2);
  if (size <= 0) return Reply::error(EINVAL);
  const Walker& walker = call.service().walker;
  std::string path;
  if (const int error = walker.read_path(call, call.arg(at ? 1 : 0), &path); error != 0)
    return Reply::error(error);

  Found found;
  if (path.empty()) {
    if (!at) return Reply::error(ENOENT);
    if (const int error = walker.resolve_descriptor(call, folder, &found); error != 0)
      return Reply::error(error);
  } else {
    Spelling spelling;
    if (const int error = walker.spell(call, folder, path, &spelling); error != 0)
      return Reply::error(error);
    // realpath(3) asks every component, and nearly all are known to be no links, or not to be.
    if (!spelling.folder()) {
      const Walker::Way way = walker.way_to(spelling, Follow::kYes);
      if (way == Walker::Way::kClear) return Reply::error(EINVAL);
      if (way == Walker::Way::kMissing) return Reply::error(ENOENT);
    }
    if (const int error = walker.resolve(call, spelling, Follow::kNo, &found); error != 0)
      return Reply::error(error);
  }
  if (const int error = Walker::look(&found); error != 0) return Reply::error(error);
  // What is no link says nothing; realpath(3) asks that of every component.
  if (!S_ISLNK(found.type)) return Reply::error(path.empty() ? ENOENT : EINVAL);

  std::string text;
  const auto own = [&] { return call.service().processes.status(call.tid()); };
  if (found.canonical == "/proc/self" || found.canonical == "/proc/thread-self") {
    const auto status = own();
    if (!status) return Reply::error(ESRCH);
    text = std::to_string(status->inner_process);
    if (found.canonical != "/proc/self") text += "/task/" + std::to_string(status->inner_thread);
  } else {
    const auto place = parse_proc(found.canonical);
    // The links of the compartment's own processes tell what they opened and where they are.
    if (place && place->inner_process == 1) return Reply::error(EACCES);
    if (!found.is_path) {
      call.note_refusal(Kind::kRead, found.canonical, "a link without a name");
      return Reply::error(EACCES);
    }
    if (!place)
      if (auto no = call.refuse_unless(Kind::kRead, found.canonical)) return std::move(*no);
    char target[PATH_MAX];
    const ssize_t n = ::readlinkat(found.fd.get(), "", target, sizeof target);
    if (n < 0) return Reply::error(errno);
    text.assign(target, static_cast<size_t>(n));
  }
  const size_t length = std::min(text.size(), static_cast<size_t>(size));
  if (const int error = call.write(buffer, text.data(), length); error != 0)
    return Reply::error(error);
  return Reply::value(static_cast<int64_t>(length));
}

namespace {

// Whether an open of that kind would be refused; journalled where it would.
bool is_denied(Call& call, Kind kind, const Spelling& spelling, const Found& found) {
  const Policy& policy = call.service().judge.policy();
  std::string name;
  const bool by_name = is_blocked_name(call, kind, spelling, found.canonical, &name);
  const std::string& path = by_name ? name : found.canonical;
  const Decision decision = policy.decide_path(kind, path);
  const bool stands =
      kind == Kind::kWrite && !S_ISDIR(found.type) && policy.stands_above_block(found.canonical);
  if (!stands && decision.verdict != Verdict::kDeny && !is_unfit(policy, decision, path))
    return false;
  if (kind == Kind::kRead) {
    (void)call.decide(kind, path);  // nobody is asked: it is denied
  } else {
    call.note_refusal(kind, path, kOnlyAsked);
  }
  return true;
}

}  // namespace

// "May I read it?", "May I write it?" are answered as open() would be: git, for one, takes a
// configuration that it may not read for none, but gives up where reading fails that was said to be
// allowed; who is told that a folder can be written waits until somebody leaves its lock there.
// Nothing is secret in the kernel's own answer, so whatever is unclear is left to it.
Reply serve_access(Call& call) {
  const bool at = call.number() != __NR_access;
  const uint32_t mode = call.flags_arg(at ? 2 : 1);
  const uint32_t flags = call.number() == __NR_faccessat2 ? call.flags_arg(3) : 0;
  const bool audits = call.service().judge.enforcement() == Enforcement::kAuditOnly;
  Spelling spelling;
  if (spell_argument(call, at ? call.fd_arg(0) : AT_FDCWD, call.arg(at ? 1 : 0), &spelling) != 0)
    return Reply::go_on();
  Found found;
  const Follow follow = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? Follow::kNo : Follow::kYes;
  const int error = call.service().walker.resolve(call, spelling, follow, &found);
  if (error == ENOENT && (mode & R_OK) != 0) note_unseen(call, spelling, found);
  if (error != 0 || !found.is_path || Walker::look(&found) != 0) return Reply::go_on();
  // A process's own entries of /proc are judged by more than the policy.
  if (is_within(found.canonical, "/proc") || call.is_own(found.canonical)) return Reply::go_on();
  const bool denied =
      ((mode & R_OK) != 0 && is_denied(call, Kind::kRead, spelling, found)) ||
      ((mode & W_OK) != 0 && !audits && is_denied(call, Kind::kWrite, spelling, found));
  return denied && !audits ? Reply::error(EACCES) : Reply::go_on();
}

Reply serve_watch(Call& call) {
  const uint32_t mask = call.flags_arg(2);
  if (mask == 0 || ((mask & IN_MASK_ADD) != 0 && (mask & IN_MASK_CREATE) != 0))
    return Reply::error(EINVAL);
  auto own = call.service().processes.borrow(call.tid(), call.fd_arg(0));
  if (!own.ok()) return Reply::error(own.error().errno_value == EBADF ? EBADF : EPERM);
  char kind[32] = {};
  (void)!::readlink(OwnLink(own->get()).text, kind, sizeof kind - 1);
  if (std::string_view(kind) != "anon_inode:inotify") return Reply::error(EINVAL);
  Spelling spelling;
  if (const int error = spell_argument(call, AT_FDCWD, call.arg(1), &spelling); error != 0)
    return Reply::error(error);
  Found found;
  const Follow follow = (mask & IN_DONT_FOLLOW) != 0 ? Follow::kNo : Follow::kYes;
  if (const int error = call.service().walker.resolve(call, spelling, follow, &found); error != 0)
    return Reply::error(error);
  if (!found.is_path) return Reply::error(EACCES);
  if (auto no = refuse_name(call, Kind::kRead, spelling, found.canonical)) return std::move(*no);
  if (auto no = call.refuse_unless(Kind::kRead, found.canonical)) return std::move(*no);
  if (!call.still_valid()) return Reply::error(EINTR);
  // The link is ours: whether to follow was settled above.
  const int watch = ::inotify_add_watch(own->get(), OwnLink(found.fd.get()).text,
                                        mask & ~static_cast<uint32_t>(IN_DONT_FOLLOW));
  return watch < 0 ? Reply::error(errno) : Reply::value(watch);
}

}  // namespace bulkhead
