// A notified system call under service, and the table of handlers.
//
// A handler reads its arguments from `call`, resolves paths with the walker, asks the judge,
// does the work itself on what it resolved, and answers. It never lets the kernel read a path
// again, except where Landlock decides anyway. Handlers hold no state of their own: what lives
// longer is in Service.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/judge.h"
#include "sandbox/caller/caller.h"
#include "sandbox/caller/identity.h"
#include "sandbox/caller/settled_opens.h"
#include "sandbox/kernel/notification.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/network/ports.h"
#include "sandbox/network/socket_paths.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

class Walker;        // sandbox/caller/walker.h: paths as the target sees them
class NameCache;     // sandbox/network/name_cache.h: which names an address was resolved from
class HomeSize;      // sandbox/home/home_size.h: how much is in a private home
class SpareFolders;  // sandbox/home/spare_folders.h: from which programs start
class RenameLock;    // sandbox/calls/rename_lock.h: names change one at a time
class Processes;     // sandbox/kernel/processes.h: who is alive, what it executes, its credentials

// What handlers work with; owned by the supervisor, outlives every call.
struct Service {
  const Plan& plan;
  Compartment& compartment;
  Listener& listener;
  Judge& judge;
  Walker& walker;
  NameCache& names;
  Processes& processes;
  RenameLock& renames;
  const HomeSize* home_size = nullptr;  // of a private home, as the next
  SpareFolders* spare_folders = nullptr;
  // In place of the plan's limit; 0: that holds.
  std::atomic<uint32_t> most_processes = 0;
  SocketPaths socket_paths{};
  Ports* ports = nullptr;  // null: none is published
};

class Call : public Caller {
 public:
  Call(const Notification& notification, Service& service, bool may_block)
      : Caller(notification), service_(service), may_block_(may_block) {}

  int number() const { return notification().number; }
  uint64_t arg(size_t i) const { return notification().args[i]; }
  int fd_arg(size_t i) const { return static_cast<int>(static_cast<uint32_t>(arg(i))); }
  uint32_t flags_arg(size_t i) const { return static_cast<uint32_t>(arg(i)); }
  // An answer in the caller's memory: 0 or errno. Looks whether the caller is still there, as near
  // to the writing as can be: its number may be another process's by now.
  int write(uint64_t address, const void* from, size_t size) const;
  Service& service() const { return service_; }
  bool may_block() const { return may_block_; }
  bool still_valid() const { return service_.listener.still_valid(notification()); }

  // The judge's ruling with this call as the attempt (name of the call, pid, program).
  // Paths below the compartment's /proc/PID are judged as /proc/self; init's, and others'
  // memory, are refused.
  Judge::Ruling decide(Kind kind, std::string_view canonical_path, Recount* recount = nullptr);
  // The same for a connection that leaves the compartment.
  Judge::Ruling decide_connect(const IpAddress& address, uint16_t port,
                               std::span<const std::string_view> names);
  // Its caller listens there now, inside.
  void note_listening(uint16_t port) const;
  // What decide() would rule, without a word to the journal, and asking nobody: of /proc nothing is
  // known so.
  Judge::Ruling would_rule(Kind kind, std::string_view canonical_path) const;
  bool would_allow(Kind kind, std::string_view canonical_path) const {
    return would_rule(kind, canonical_path) == Judge::Ruling::kAllow;
  }
  // In the home that the compartment has for itself: neither judged nor journalled.
  bool is_own(std::string_view canonical_path) const {
    return service_.plan.home && service_.plan.home->holds(canonical_path);
  }
  // The same, and nothing more is to be put there: EDQUOT.
  bool has_no_room(std::string_view canonical_path) const;
  // decide() as an answer: nullopt: allowed; else EACCES, or Reply::later() for a question.
  std::optional<Reply> refuse_unless(Kind kind, std::string_view canonical_path);
  // Judge::note_refusal with this call as the attempt, unless the caller is gone.
  void note_refusal(Kind kind, std::string_view resource, std::string_view reason);
  // Creates with that umask, for as long as this object lives.
  void borrow_umask(mode_t mask) { umask_.emplace(mask); }
  // The kernel was told to go on with the open of `path`, and may be told so again for a while.
  void settle(SettledOpen open) { settled_ = std::move(open); }
  const std::optional<SettledOpen>& settled() const { return settled_; }
  // The process (thread group) of tid(), for the journal: may be a second old.
  pid_t process() const;

 private:
  Service& service_;
  bool may_block_;
  std::optional<SettledOpen> settled_;
  std::optional<BorrowedUmask> umask_;
};

using Handler = Reply (*)(Call&);

// One row per notified system call: number, name, handler. Sorted by number. The seccomp filter's
// table (sandbox/plan/filter.cc) notifies exactly these; a test keeps the two in step.
struct CallRow {
  int number;
  const char* name;
  Handler handler;
  int refusal = 0;  // errno of serve_refusal; also what a row answers for refused argument values
  const char* reason = nullptr;  // why, for the journal
};
const CallRow* find_call(int number);

// calls/open.cc: open, creat, openat, openat2
Reply serve_open(Call& call);
// calls/tree.cc: mkdir, mknod, unlink, rmdir, rename, link, symlink and their -at forms
Reply serve_make(Call& call);
Reply serve_remove(Call& call);
Reply serve_rename(Call& call);
Reply serve_link(Call& call);
Reply serve_symlink(Call& call);
// calls/read.cc: readlink(at), access, inotify_add_watch
Reply serve_readlink(Call& call);
Reply serve_access(Call& call);
Reply serve_watch(Call& call);
// calls/status.cc: chmod, chown, truncate, times, extended attributes; by path and by descriptor
Reply serve_chmod(Call& call);
Reply serve_chown(Call& call);
Reply serve_truncate(Call& call);
Reply serve_times(Call& call);
Reply serve_xattr(Call& call);
Reply serve_get_xattr(Call& call);
// calls/execute.cc
Reply serve_execute(Call& call);
// calls/process.cc: fork and clone where processes are counted, filters of a program's own,
// setuid and friends
Reply serve_fork(Call& call);
Reply serve_filter(Call& call);
Reply serve_credentials(Call& call);
// calls/async.cc: signals by a descriptor that becomes ready
Reply serve_async(Call& call);
Reply serve_ioctl(Call& call);
// calls/refuse.cc: interfaces that no manifest grants: journalled as Kind::kSystem,
// then the row's errno
Reply serve_refusal(Call& call);
// calls/socket.cc: connect, bind, listen, getsockname, sendto with an address
Reply serve_connect(Call& call);
Reply serve_bind(Call& call);
Reply serve_listen(Call& call);
Reply serve_own_name(Call& call);
Reply serve_send(Call& call);

}  // namespace bulkhead
