// open, creat, openat, openat2: the file is opened here, as decided, and its
// descriptor handed over.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/caller/pool.h"
#include "sandbox/calls/common.h"
#include "sandbox/calls/repository.h"
#include "sandbox/kernel/kernel.h"

namespace bulkhead {

namespace {

constexpr int kLargeFile = 0100000;  // O_LARGEFILE of the kernel; glibc's is 0 on x86-64
constexpr int kTmpfile = 020000000;  // __O_TMPFILE
constexpr int kKnownFlags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND |
                            O_NONBLOCK | O_SYNC | O_DSYNC | O_ASYNC | O_DIRECT | kLargeFile |
                            O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | kTmpfile;
// What fcntl(F_SETFL) can change.
constexpr int kStatusFlags = O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME;
constexpr uint64_t kKnownScope = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS |
                                 RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED;

struct Request {
  int folder = AT_FDCWD;
  uint64_t path = 0;
  int flags = 0;
  mode_t mode = 0;
  uint64_t scope = 0;
  bool flags_in_memory = false;  // openat2: the kernel would read flags and mode again

  bool creates() const { return (flags & (O_CREAT | kTmpfile)) != 0; }
  bool reads() const { return (flags & O_ACCMODE) != O_WRONLY; }
  // Existing content; creating is decided apart.
  bool writes() const {
    return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | kTmpfile)) != 0;
  }
  // For which Landlock has a right of its own only since Linux 6.2: before, who may read may
  // truncate.
  bool truncates_without_writing() const {
    return (flags & (O_ACCMODE | O_TRUNC | O_PATH)) == O_TRUNC;
  }
  bool may_map_for_writing() const { return (flags & O_ACCMODE) == O_RDWR; }
  bool exclusive() const { return (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL); }
  Follow follow() const {
    return (flags & O_NOFOLLOW) != 0 || exclusive() ? Follow::kNo : Follow::kYes;
  }
  bool close_on_exec() const { return (flags & O_CLOEXEC) != 0; }
  // Opening a FIFO would wait for its other end.
  bool waits() const { return (flags & O_NONBLOCK) == 0 && (flags & O_ACCMODE) != O_RDWR; }
};

// The checks of the kernel's build_open_flags(), in its order. 0 or errno.
int check(Request* request) {
  int& flags = request->flags;
  // Both modes at once is good for a device's commands alone, and Landlock is asked for no right:
  // the kernel would open whatever the path names when it reads that again.
  if ((flags & (O_ACCMODE | O_PATH)) == O_ACCMODE) return EINVAL;
  if ((flags & kTmpfile) != 0) {
    if ((flags & (O_DIRECTORY | O_CREAT)) != O_DIRECTORY) return EINVAL;
    if ((flags & O_ACCMODE) == O_RDONLY) return EINVAL;
  }
  if ((flags & (O_DIRECTORY | O_CREAT)) == (O_DIRECTORY | O_CREAT)) return EINVAL;
  if (!request->creates()) request->mode = 0;
  flags &= ~O_ASYNC;  // its signals would be the supervisor's
  return 0;
}

int read_request(const Call& call, Request* request) {
  switch (call.number()) {
    case __NR_open:
      request->path = call.arg(0);
      request->flags = call.fd_arg(1) & kKnownFlags;
      request->mode = static_cast<mode_t>(call.arg(2)) & 07777;
      return check(request);
    case __NR_creat:
      request->path = call.arg(0);
      request->flags = O_CREAT | O_WRONLY | O_TRUNC;
      request->mode = static_cast<mode_t>(call.arg(1)) & 07777;
      return check(request);
    case __NR_openat:
      request->folder = call.fd_arg(0);
      request->path = call.arg(1);
      request->flags = call.fd_arg(2) & kKnownFlags;
      request->mode = static_cast<mode_t>(call.arg(3)) & 07777;
      return check(request);
    default:
      break;
  }
  request->folder = call.fd_arg(0);
  request->path = call.arg(1);
  request->flags_in_memory = true;
  const uint64_t size = call.arg(3);
  open_how how{};
  if (size < sizeof how) return EINVAL;
  if (size > 4096) return E2BIG;
  char bytes[4096];
  if (!call.memory().read(call.arg(2), bytes, size).ok()) return EFAULT;
  std::memcpy(&how, bytes, sizeof how);
  for (uint64_t i = sizeof how; i < size; ++i)
    if (bytes[i] != 0) return E2BIG;
  if ((how.flags & ~static_cast<uint64_t>(kKnownFlags)) != 0 || (how.resolve & ~kKnownScope) != 0)
    return EINVAL;
  if ((how.resolve & RESOLVE_BENEATH) != 0 && (how.resolve & RESOLVE_IN_ROOT) != 0) return EINVAL;
  request->flags = static_cast<int>(how.flags);
  request->scope = how.resolve;
  if (request->creates() ? (how.mode & ~uint64_t{07777}) != 0 : how.mode != 0) return EINVAL;
  request->mode = static_cast<mode_t>(how.mode);
  return check(request);
}

// The flags that the supervisor itself opens with: never a controlling terminal, and never waiting
// for whoever put a FIFO there a moment ago.
int own_flags(const Request& request) {
  return (request.flags & ~(O_CLOEXEC | kLargeFile)) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
}

// O_NONBLOCK was ours, not the caller's.
void settle_flags(const Request& request, int fd) {
  if ((request.flags & O_NONBLOCK) == 0) (void)::fcntl(fd, F_SETFL, request.flags & kStatusFlags);
}

// Who writes a program by a call takes its set-id bits and capabilities away, but not who writes it
// by a mapping: so they go when it is opened for writing. 0 or errno.
int take_privileges(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return errno;
  if (!S_ISREG(about.st_mode)) return 0;
  if (makes_privileged(about.st_mode) && ::fchmod(fd, about.st_mode & 01777) != 0) return errno;
  const bool capable = ::fgetxattr(fd, "security.capability", nullptr, 0) > 0;
  // chown(2): that of an executable file takes them away, also one that changes no owner.
  return capable && ::fchown(fd, static_cast<uid_t>(-1), static_cast<gid_t>(-1)) != 0 ? errno : 0;
}

// `plain`: known to be a regular file or a folder.
Reply hand_over(Call& call, const Request& request, const std::string& path, Fd fd, bool plain) {
  if (request.may_map_for_writing() && call.service().plan.enforcement != Enforcement::kAuditOnly)
    if (take_privileges(fd.get()) != 0) {
      call.note_refusal(Kind::kWrite, path, "a set-id program of somebody else's");
      return Reply::error(EACCES);
    }
  settle_flags(request, fd.get());
  const bool alone = !plain || request.writes() || request.creates();
  return Reply::descriptor(std::move(fd), request.close_on_exec(), alone);
}

// Opens what `link` leads to and waits for as long as its caller lives: FIFOs, leased files.
Reply open_waiting(Call& call, const Request& request, const std::string& path, const char* link) {
  if (!call.may_block()) return Reply::later();
  const int flags = (own_flags(request) & ~(O_NONBLOCK | O_NOFOLLOW | O_CREAT | O_EXCL)) |
                    (request.flags & O_NONBLOCK);
  const Waiting waiting;
  for (;;) {
    Fd fd(::open(link, flags));
    if (fd) return hand_over(call, request, path, std::move(fd), false);
    if (errno != EINTR) return Reply::error(errno);
    if (auto no = interrupted(call, pending_signal(call.tid()), true)) return std::move(*no);
  }
}

// A descriptor that the caller has anyway, opened again with no more access than it has.
bool within_held(const Request& request, const Found& found) {
  if (!found.held || (*found.held & O_PATH) != 0) return false;
  const int held = *found.held & O_ACCMODE;
  if (request.reads() && held != O_RDONLY && held != O_RDWR) return false;
  if (request.writes() && held != O_WRONLY && held != O_RDWR) return false;
  // A log that can only be appended to must not become one that can be overwritten.
  return !request.writes() || (*found.held & O_APPEND) == 0 ||
         ((request.flags & O_APPEND) != 0 && (request.flags & O_TRUNC) == 0);
}

std::optional<Reply> refuse_content(Call& call, const Request& request, const Spelling& spelling,
                                    const std::string& path) {
  for (const auto& [wanted, kind] :
       {std::pair(request.reads(), Kind::kRead), std::pair(request.writes(), Kind::kWrite)}) {
    if (!wanted) continue;
    if (auto no = refuse_name(call, kind, spelling, path)) return no;
    if (auto no = call.refuse_unless(kind, path)) return no;
  }
  return std::nullopt;
}

// What only the kernel can open for its caller. openat2's flags are in memory and could be O_CREAT
// with set-id bits by then, which is not Landlock's business: its callers know kernels without it.
Reply by_the_kernel(const Request& request) {
  if (request.truncates_without_writing()) return Reply::error(EINVAL);
  return request.flags_in_memory ? Reply::error(ENOSYS) : Reply::go_on();
}

Reply open_existing(Call& call, const Request& request, const Spelling& spelling, Found& found) {
  if (request.exclusive()) return Reply::error(EEXIST);
  if (const int error = Walker::look(&found); error != 0) return Reply::error(error);
  const bool folder = S_ISDIR(found.type);
  if (S_ISLNK(found.type)) return Reply::error(ELOOP);
  if ((request.flags & O_DIRECTORY) != 0 && !folder) return Reply::error(ENOTDIR);
  if (folder && (request.flags & kTmpfile) == 0 &&
      (request.writes() || (request.flags & O_CREAT) != 0))
    return Reply::error(EISDIR);
  if (request.writes() && found.is_path && call.has_no_room(found.canonical))
    return Reply::error(EDQUOT);
  if (!within_held(request, found)) {
    if (!found.is_path) {
      call.note_refusal(request.writes() ? Kind::kWrite : Kind::kRead, found.canonical,
                        "no path in the compartment, and not held with this access");
      return Reply::error(EACCES);
    }
    if (auto no = refuse_content(call, request, spelling, found.canonical)) return std::move(*no);
    if (request.writes() && !folder)
      if (auto no = refuse_above_block(call, found.canonical, found.type)) return std::move(*no);
  }
  // It has to be opened as the caller: for anybody else it is no terminal (ENXIO).
  if (found.canonical == "/dev/tty") return by_the_kernel(request);
  if (!call.still_valid()) return Reply::error(EINTR);
  const OwnLink link(found.fd.get());
  if (S_ISFIFO(found.type) && found.is_path && request.waits())
    return open_waiting(call, request, found.canonical, link.text);
  if ((request.flags & kTmpfile) != 0)
    if (const int error = adopt_umask(call); error != 0) return Reply::error(error);
  // The link is followed exactly once, to the descriptor's file.
  const int flags = own_flags(request) & ~(O_NOFOLLOW | O_CREAT | O_EXCL);
  const int keep = (request.flags & kTmpfile) != 0 ? request.flags & O_EXCL : 0;
  Fd fd(::open(link.text, flags | keep, request.mode));
  if (!fd && errno == EAGAIN && (request.flags & O_NONBLOCK) == 0)  // a lease is being broken
    return open_waiting(call, request, found.canonical, link.text);
  if (!fd) return Reply::error(errno);
  return hand_over(call, request, found.canonical, std::move(fd), folder || S_ISREG(found.type));
}

Reply create(Call& call, const Request& request, const Spelling& spelling,
             const std::string& canonical) {
  if (call.has_no_room(canonical)) return Reply::error(EDQUOT);
  note_planted(call, canonical);
  if (auto no = refuse_name(call, Kind::kWrite, spelling, canonical)) return std::move(*no);
  const bool sample = repository_part(call, canonical) == RepositoryPart::kSample;
  if (auto no = call.refuse_unless(
          Kind::kWrite, sample ? std::string(parent_of(parent_of(canonical))) : canonical)) {
    // Who is told of it is told of both: one without the other does not make the file.
    if (request.reads() && call.would_rule(Kind::kRead, canonical) == Judge::Ruling::kDeny)
      (void)call.decide(Kind::kRead, canonical);
    return std::move(*no);
  }
  if (request.reads())
    if (auto no = call.refuse_unless(Kind::kRead, canonical)) return std::move(*no);
  if (auto no = refuse_device(call, true, canonical, 0)) return std::move(*no);
  if (auto no = refuse_above_block(call, canonical, S_IFREG)) return std::move(*no);
  if (const int error = adopt_umask(call); error != 0) return Reply::error(error);
  if (!call.still_valid()) return Reply::error(EINTR);
  Fd fd;
  const Walker& walker = call.service().walker;
  const uint64_t before = walker.changes();
  const int anew = sample ? O_EXCL : 0;
  const int error =
      walker.open_exact(canonical, (own_flags(request) & ~O_NOFOLLOW) | anew, request.mode, &fd);
  if (error != 0) return Reply::error(error == ELOOP ? EAGAIN : error);
  note_taken(call, fd.get(), kNameBytes);
  if (!walker.is_named(fd.get(), canonical, before)) return Reply::error(EAGAIN);
  return hand_over(call, request, canonical, std::move(fd), true);
}

bool wants_write(const Request& request) {
  return request.writes() || (request.flags & O_CREAT) != 0;
}

// Landlock grants what is granted here, so whatever the kernel finds when it reads the path again
// is judged once more. Flags and mode must be registers: openat2's could become O_CREAT with
// set-id bits meanwhile, which is not Landlock's business.
bool kernel_can(const Call& call, const Request& request, const std::string& path) {
  const Plan& plan = call.service().plan;
  return (!request.reads() || kernel_decides(plan, Kind::kRead, path)) &&
         (!wants_write(request) || kernel_decides(plan, Kind::kWrite, path)) &&
         !request.flags_in_memory && !request.truncates_without_writing();
}

// A path that is its own canonical path, opened in one step. nullopt: not that simple.
// `text` is what the caller wrote.
std::optional<Reply> open_directly(Call& call, const Request& request, const std::string& text,
                                   const Spelling& spelling) {
  const std::string& path = spelling.text;
  const bool wants_write = bulkhead::wants_write(request);
  if (request.reads() && !call.would_allow(Kind::kRead, path)) return std::nullopt;
  if (wants_write && !call.would_allow(Kind::kWrite, path)) return std::nullopt;
  if (wants_write && call.has_no_room(path)) return Reply::error(EDQUOT);
  if (wants_write) note_planted(call, path);
  const Walker& walker = call.service().walker;
  const Plan& plan = call.service().plan;
  if (wants_write && !call.is_own(path) && call.service().judge.policy().stands_above_block(path))
    return std::nullopt;
  // Nothing is made there, and "> /dev/null" is every shell's.
  const bool device = request.creates() && is_in_dev(path);
  if (device && request.exclusive()) return std::nullopt;
  Recount read;
  Recount written;
  const auto record = [&] {
    return (!request.reads() || call.decide(Kind::kRead, path, &read) == Judge::Ruling::kAllow) &&
           (!wants_write || call.decide(Kind::kWrite, path, &written) == Judge::Ruling::kAllow);
  };

  if (kernel_can(call, request, path) && !device) {
    const Walker::Way way = walker.way_to(spelling, request.follow());
    if (way == Walker::Way::kSymlink) return std::nullopt;
    // Its errno is the answer.
    if (way != Walker::Way::kClear && !request.creates()) return Reply::go_on();
    if (!record()) return std::nullopt;
    // A path that stands for itself whatever the caller's folder is, and nothing is made.
    if (way == Walker::Way::kClear && text[0] == '/' && !request.creates() &&
        request.follow() == Follow::kYes && (!request.reads() || read.known) &&
        (!wants_write || written.known))
      call.settle({text, {read.counter, written.counter}});
    return Reply::go_on();
  }

  // A FIFO must not be opened for trial: its other end would notice. And who makes a name is told
  // only by its absence before.
  struct stat about {};
  const bool counts = request.creates() && plan.limits.written;
  const bool there = (request.waits() || counts) &&
                     ::fstatat(walker.root(), path.size() == 1 ? "." : path.c_str() + 1, &about,
                               AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
  if (there && request.waits() && S_ISFIFO(about.st_mode)) return std::nullopt;
  if (request.creates())
    if (const int error = adopt_umask(call); error != 0) return Reply::error(error);
  // Reading the memory of a caller that is gone, or of whoever has its number now, does no harm as
  // long as nothing changes: the answer then reaches nobody.
  if (wants_write && !call.still_valid()) return Reply::error(EINTR);
  int flags = own_flags(request);
  if (device) flags &= ~O_CREAT;
  if (spelling.folder()) {
    if ((request.flags & O_CREAT) != 0) return std::nullopt;
    flags = (flags & ~O_NOFOLLOW) | O_DIRECTORY;  // "link/" is followed
  }
  Fd fd;
  const uint64_t before = walker.changes();
  const int error = walker.open_exact(path, flags, device ? 0 : request.mode, &fd);
  // ELOOP: a symlink somewhere. ENXIO and EAGAIN: a FIFO, socket or lease. The slow way tells.
  if (error == ELOOP || error == ENXIO || error == EAGAIN || (device && error == ENOENT))
    return std::nullopt;
  if (error == ENOENT) note_unseen(call, path);
  if (error != 0) return Reply::error(error);
  if (counts && !there) note_taken(call, fd.get(), kNameBytes);
  if (!walker.is_named(fd.get(), path, before)) return std::nullopt;
  if (!record()) return Reply::error(EACCES);
  // A FIFO that is opened without waiting may be one.
  return hand_over(call, request, path, std::move(fd), (request.flags & O_NONBLOCK) == 0);
}

// "." and the like: the folder that the caller is in, or has a descriptor of.
bool is_itself(const std::string& path) {
  return !path.empty() && path[0] == '.' && path.find_first_not_of("./") == std::string::npos &&
         path.find("..") == std::string::npos;
}

// A folder that was removed while the caller was in it can be opened still, and is empty for ever.
Reply open_removed_folder(Call& call, const Request& request) {
  Found found;
  if (const int error = call.service().walker.resolve_descriptor(call, request.folder, &found);
      error != 0)
    return Reply::error(error);
  if (const int error = Walker::look(&found); error != 0) return Reply::error(error);
  if (!S_ISDIR(found.type) || found.links != 0) return Reply::error(ENOENT);
  if (request.writes() || request.creates()) return Reply::error(EISDIR);
  Fd fd(::open(OwnLink(found.fd.get()).text, own_flags(request) & ~O_NOFOLLOW));
  if (!fd) return Reply::error(errno);
  return hand_over(call, request, found.canonical, std::move(fd), true);
}

}  // namespace

Reply serve_open(Call& call) {
  Request request;
  if (const int error = read_request(call, &request); error != 0) return Reply::error(error);
  // No content and no right to any: whatever is done with it names it, and is decided then. Such a
  // descriptor cannot be handed in (seccomp_unotify(2) takes it for none).
  if ((request.flags & O_PATH) != 0) return by_the_kernel(request);
  const Walker& walker = call.service().walker;
  std::string path;
  if (const int error = walker.read_path(call, request.path, &path); error != 0)
    return Reply::error(error);
  if (request.creates())
    if (auto no = refuse_privileged(call, request.mode, path)) return std::move(*no);

  Found found;
  Spelling spelling;
  int error = 0;
  if (request.scope != 0) {
    // open(2): no file is made of a name with a slash behind it.
    const bool slash = (request.flags & O_CREAT) != 0 && path.size() > 1 && path.back() == '/';
    if (slash) path.erase(path.find_last_not_of('/') + 1);
    error =
        walker.resolve_scoped(call, request.folder, path, request.scope, request.follow(), &found);
    // A root of the call's own changes what "/" means.
    const size_t skip = (request.scope & RESOLVE_IN_ROOT) != 0 ? path.find_first_not_of('/') : 0;
    if (skip != std::string::npos)
      (void)walker.spell(call, request.folder, std::string_view(path).substr(skip), &spelling);
    if (slash && (error == 0 || Walker::may_be_created(error, found))) return Reply::error(EISDIR);
  } else {
    error = walker.spell(call, request.folder, path, &spelling);
    if (error == ENOENT && is_itself(path)) return open_removed_folder(call, request);
    if (error != 0) return Reply::error(error);
    if ((request.flags & O_CREAT) != 0 && spelling.tail == Tail::kSlash) {
      FoundEntry entry;
      error = walker.resolve_entry(call, spelling, &entry);
      return Reply::error(error != 0 ? error : EISDIR);
    }
    if (!spelling.parents && spelling.text != "/dev/tty" && (request.flags & kTmpfile) == 0)
      if (auto reply = open_directly(call, request, path, spelling)) return std::move(*reply);
    error = walker.resolve(call, spelling, request.follow(), &found);
  }
  if (error == 0) return open_existing(call, request, spelling, found);
  if ((request.flags & O_CREAT) != 0 && !spelling.folder() && Walker::may_be_created(error, found))
    return create(call, request, spelling, found.canonical);
  if (error == ENOENT) note_unseen(call, spelling, found);
  return Reply::error(error);
}

}  // namespace bulkhead
