// Calls that change names: mkdir, mknod, unlink, rmdir, rename, link, symlink and their -at forms.
// Each is done relative to the descriptor of the folder that was decided on. Where Landlock grants
// the folder whole, the kernel may do it by itself; but what a link leads to is none of Landlock's
// business, so where that matters links are made, and names moved, here, under the rename lock.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <initializer_list>
#include <mutex>

#include "policy/covers.h"
#include "policy/rule_match.h"
#include "sandbox/calls/common.h"
#include "sandbox/calls/rename_lock.h"
#include "sandbox/calls/repository.h"
#include "sandbox/home/spare_folders.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

namespace {

constexpr uint64_t kBlock = 4096;
constexpr size_t kShortLink = 60;  // ext4

Reply result(int64_t value) { return value < 0 ? Reply::error(errno) : Reply::value(value); }

// Which mount a descriptor is on: renames and links never cross one.
uint64_t mount_of(int fd) {
  struct statx about {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &about) != 0) return 0;
  return about.stx_mnt_id;
}

// One path argument of a call, resolved up to the folder that holds the name.
struct Name {
  Spelling spelling;
  FoundEntry entry;

  int find(const Call& call, int folder, uint64_t address) {
    if (const int error = spell_argument(call, folder, address, &spelling); error != 0)
      return error;
    if (const int error = call.service().walker.resolve_entry(call, spelling, &entry); error != 0)
      return error;
    // The name is in the machine's folder, and nobody there makes it for the compartment.
    const auto& home = call.service().plan.home;
    struct stat about {};
    return home && home->home() == path() && has_name() && !exists(&about) ? EBUSY : 0;
  }
  bool has_name() const { return entry.tail == Tail::kName || entry.tail == Tail::kSlash; }
  int folder() const { return entry.folder.get(); }
  const char* name() const { return entry.name.c_str(); }
  const std::string& path() const { return entry.canonical; }
  // Without a symlink or ".." on the way, so that the kernel finds the same.
  bool is_plain() const { return !spelling.parents && path() == spelling.text; }
  bool kernel_may_write(const Call& call) const {
    return is_plain() && kernel_may(call, Kind::kWrite, path());
  }
  std::string bare_name() const {
    std::string bare = entry.name;
    if (!bare.empty() && bare.back() == '/') bare.pop_back();
    return bare;
  }
  bool exists(struct stat* about) const {
    return ::fstatat(folder(), bare_name().c_str(), about, AT_SYMLINK_NOFOLLOW) == 0;
  }
  // Something is mounted there for the compartment. The kernel would say EBUSY to it, and not to
  // us, who have no such mount: the machine's own /tmp would go, or come into the workspace.
  bool is_mount_point() const {
    struct statx about {};
    return ::statx(folder(), bare_name().c_str(), AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, 0,
                   &about) == 0 &&
           (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  }
  EntryAt at() const { return {folder(), name(), path()}; }
  // The folder is still where it was when the name was found.
  bool is_in_place() const {
    std::string now;
    return read_own_link(folder(), &now) == 0 && now == parent_of(path());
  }
};

// What is moved, as far as it decides: a file, a folder, or a link with its text.
struct Moved {
  mode_t type = 0;  // 0: nothing
  std::string target;

  static Moved of(const Name& name) {
    Moved moved;
    struct stat about {};
    if (!name.exists(&about)) return moved;
    moved.type = about.st_mode & S_IFMT;
    char text[PATH_MAX];
    if (moved.type == S_IFLNK)
      if (const ssize_t n =
              ::readlinkat(name.folder(), name.bare_name().c_str(), text, sizeof text);
          n > 0)
        moved.target.assign(text, static_cast<size_t>(n));
    return moved;
  }
  bool operator==(const Moved&) const = default;
};

// The right to change these names now; where it has none, `reply` says what to answer.
struct RenameRight {
  std::unique_lock<std::mutex> lock;
  std::optional<Reply> reply;

  RenameRight(const Call& call, RenameLock::Change change, std::initializer_list<const Name*> names)
      : lock(call.service().renames.take(call.may_block())) {
    RenameLock& renames = call.service().renames;
    const auto in_use = [&] {
      return std::any_of(names.begin(), names.end(),
                         [&](const Name* name) { return renames.in_use(name->path(), change); });
    };
    if (!lock.owns_lock() || (in_use() && !call.may_block())) {
      reply = Reply::later();
      return;
    }
    if (in_use()) renames.wait(lock);
    if (in_use() || !std::all_of(names.begin(), names.end(),
                                 [](const Name* name) { return name->is_in_place(); }))
      reply = Reply::error(EBUSY);
  }
};

// Landlock's rules go along with what they are of, so the new name must grant what they do. EXDEV:
// programs copy then, which takes no rule along.
std::optional<Reply> refuse_loss(const Call& call, const std::string& from, const std::string& to) {
  const Plan& plan = call.service().plan;
  if (plan.rule_places == nullptr || plan.enforcement == Enforcement::kAuditOnly)
    return std::nullopt;
  const auto may = [&call](const LandlockRule& rule) {
    // A folder's rule speaks of what is in it.
    const auto loses = [&](uint64_t rights, Kind kind) {
      return (rule.access & rights) != 0 && !call.would_allow(kind, inside(rule.path));
    };
    return !loses(kLandlockRead, Kind::kRead) && !loses(kLandlockWrite, Kind::kWrite) &&
           !loses(kLandlockExecute, Kind::kRun);
  };
  if (!plan.rule_places->move(from, to, may)) return Reply::error(EXDEV);
  return std::nullopt;
}

// In a private home, what the machine's mounts hang on stays where it is: a folder of this
// compartment's that leads to one, and one that the machine's home has too. There others that have
// the same store may have mounted what they are granted, and it would come to lie in another tree
// of Landlock's. EXDEV: mv copies. So where programs start, by the tree that the folder was in, and
// would not where it comes to.
std::optional<Reply> refuse_uprooting(const Call& call, const Moved& moved, const Name& from,
                                      const Name& to) {
  if (!call.is_own(from.path())) return std::nullopt;
  const Plan& plan = call.service().plan;
  if (plan.home->leads_to_real(from.path())) return Reply::error(EBUSY);
  struct stat before {};
  struct stat after {};
  if (moved.type != S_IFDIR ||
      (::fstat(from.folder(), &before) == 0 && ::fstat(to.folder(), &after) == 0 &&
       before.st_dev == after.st_dev && before.st_ino == after.st_ino))
    return std::nullopt;
  // Of the machine: the supervisor acts in its mount namespace.
  if (::lstat(from.path().c_str(), &before) == 0 || (errno != ENOENT && errno != ENOTDIR))
    return Reply::error(EXDEV);
  if (starts_programs(call, parent_of(from.path())) && !starts_programs(call, parent_of(to.path())))
    return Reply::error(EXDEV);
  return std::nullopt;
}

// A new name must not give the right to read what the old one did not, nor, of a folder, to read or
// write what is in it. Neither by the answer to a question, which tells a person one name alone.
std::optional<Reply> refuse_gain(Call& call, const Moved& moved, const Name& old_name,
                                 const Name& new_name) {
  const bool folder = moved.type == S_IFDIR;
  const auto could_be = [&call](Kind kind, const std::string& path) {
    return call.would_rule(kind, path) != Judge::Ruling::kDeny;
  };
  if (folder && could_be(Kind::kWrite, inside(new_name.path())) &&
      !call.would_allow(Kind::kWrite, inside(old_name.path()))) {
    call.note_refusal(Kind::kWrite, old_name.path(),
                      "what is in it could be written by the new name");
    return Reply::error(EACCES);
  }
  if (!could_be(Kind::kRead, new_name.path()) &&
      !(folder && (call.service().judge.policy().above_read_grant(new_name.path()) ||
                   could_be(Kind::kRead, inside(new_name.path())))))
    return std::nullopt;
  if (folder && !call.would_allow(Kind::kRead, inside(old_name.path()))) {
    call.note_refusal(Kind::kRead, old_name.path(), "what is in it could be read by the new name");
    return Reply::error(EACCES);
  }
  if (call.would_allow(Kind::kRead, old_name.path())) return std::nullopt;
  return call.refuse_unless(Kind::kRead, old_name.path());
}

}  // namespace

// In its own home, where programs would not start from a new folder; nullopt: a usual one will do.
std::optional<Reply> make_of_spare(const Call& call, const Name& name, mode_t mode) {
  SpareFolders* spare = call.service().spare_folders;
  const std::string path = name.path();
  if (spare == nullptr || starts_programs(call, parent_of(path))) return std::nullopt;
  const mode_t mask = ::umask(0);  // this thread's own (adopt_umask)
  ::umask(mask);
  const int error = spare->put(name.folder(), path, mode & 01777 & ~mask);
  if (error == ENOENT) return std::nullopt;
  call.service().walker.note_change();
  return error == 0 ? Reply::value(0) : Reply::error(error);
}

Reply serve_make(Call& call) {
  const bool node = call.number() == __NR_mknod || call.number() == __NR_mknodat;
  const bool at = call.number() == __NR_mkdirat || call.number() == __NR_mknodat;
  const int folder = at ? call.fd_arg(0) : AT_FDCWD;
  const size_t first = at ? 1 : 0;
  const auto mode = static_cast<mode_t>(call.flags_arg(first + 1));
  const mode_t type = node ? mode & S_IFMT : S_IFDIR;
  if (node && type == S_IFDIR) return Reply::error(EPERM);
  if (node && type != 0 && type != S_IFREG && type != S_IFIFO && type != S_IFSOCK) {
    if (type != S_IFCHR && type != S_IFBLK) return Reply::error(EINVAL);
    call.note_refusal(Kind::kSystem, "mknod", "device nodes reach past every path rule");
    return Reply::error(EPERM);
  }

  Name name;
  if (const int error = name.find(call, folder, call.arg(first)); error != 0)
    return Reply::error(error);
  // What is there already is no secret, and mkdir -p starts at the root.
  struct stat about {};
  if (!name.has_name() || name.exists(&about)) return Reply::error(EEXIST);
  if (call.has_no_room(name.path())) return Reply::error(EDQUOT);
  if (node)
    if (auto no = refuse_privileged(call, mode & 07777, name.path())) return std::move(*no);
  // An empty folder of hooks runs nothing, and git makes no repository without.
  const bool hooks = !node && repository_part(call, name.path()) == RepositoryPart::kHooks;
  if (auto no = call.refuse_unless(Kind::kWrite,
                                   hooks ? std::string(parent_of(name.path())) : name.path()))
    return std::move(*no);
  if (auto no = refuse_device(call, true, name.path(), 0)) return std::move(*no);
  if (node)
    if (auto no = refuse_above_block(call, name.path(), S_IFREG)) return std::move(*no);
  note_taken(call, name.folder(), node ? kNameBytes : kBlock);
  // Who opens a pipe waits: not somebody outside, who has been told that nothing like that is
  // there.
  std::optional<RenameRight> right;
  if (type == S_IFIFO)
    right.emplace(call, RenameLock::Change::kLinkOrFolder,
                  std::initializer_list<const Name*>{&name});
  if (right && right->reply) return std::move(*right->reply);
  if (!right && name.kernel_may_write(call)) return Reply::go_on();
  if (const int error = adopt_umask(call); error != 0) return Reply::error(error);
  if (!call.still_valid()) return Reply::error(EINTR);
  if (!node && call.is_own(name.path()))
    if (auto made = make_of_spare(call, name, mode)) return std::move(*made);
  return result(node ? ::mknodat(name.folder(), name.name(), mode, 0)
                     : ::mkdirat(name.folder(), name.name(), mode));
}

// A repository's folder goes when all in it is gone.
std::optional<Reply> refuse_removal(Call& call, const Name& name, mode_t mode, bool folder) {
  const RepositoryPart part = repository_part(call, name.path());
  if ((part == RepositoryPart::kHooks && folder) ||
      (part == RepositoryPart::kSample && S_ISREG(mode)))
    return call.refuse_unless(Kind::kWrite, std::string(parent_of(parent_of(name.path()))));
  if (part == RepositoryPart::kConfig && S_ISREG(mode) && !folder)
    return refuse_config_removal(call, name.at());
  return call.refuse_unless(Kind::kWrite, name.path());
}

Reply serve_remove(Call& call) {
  const bool at = call.number() == __NR_unlinkat;
  const uint32_t flags = at ? call.flags_arg(2) : 0;
  if ((flags & ~static_cast<uint32_t>(AT_REMOVEDIR)) != 0) return Reply::error(EINVAL);
  const bool folder = call.number() == __NR_rmdir || (flags & AT_REMOVEDIR) != 0;
  Name name;
  if (const int error = name.find(call, at ? call.fd_arg(0) : AT_FDCWD, call.arg(at ? 1 : 0));
      error != 0)
    return Reply::error(error);
  if (!name.has_name()) {
    if (!folder) return Reply::error(EISDIR);
    if (name.path() == "/") return Reply::error(EBUSY);
    return Reply::error(name.entry.tail == Tail::kDot ? EINVAL : ENOTEMPTY);
  }
  struct stat about {};
  if (!name.exists(&about)) return Reply::error(errno);
  if (auto no = refuse_removal(call, name, about.st_mode, folder)) return std::move(*no);
  if (auto no = refuse_device(call, true, name.path(), about.st_mode)) return std::move(*no);
  if (name.is_mount_point()) return Reply::error(EBUSY);
  // What is empty takes nothing along that is blocked by a name. But on a place that a rule names
  // something may hang: a link that is followed, or what is bound there.
  if (folder && is_above_a_place(call.service().judge.policy(), name.path()))
    if (auto no = refuse_above_block(call, name.path(), S_IFDIR)) return std::move(*no);
  if (folder) {
    call.service().walker.note_change();
    withdraw_from_kernel(call.service().plan, name.path());
  }
  if (name.kernel_may_write(call)) return Reply::go_on();
  if (!call.still_valid()) return Reply::error(EINTR);
  return result(::unlinkat(name.folder(), name.name(), folder ? AT_REMOVEDIR : 0));
}

// What moving does besides writing both names. `back` is what comes the other way.
std::optional<Reply> refuse_move(Call& call, bool exchange, const Moved& moved, const Moved& back,
                                 const Name& from, const Name& to) {
  if (auto no = refuse_uprooting(call, moved, from, to)) return no;
  if (exchange)
    if (auto no = refuse_uprooting(call, back, to, from)) return no;
  if (auto no = refuse_gain(call, moved, from, to)) return no;
  if (exchange)
    if (auto no = refuse_gain(call, back, to, from)) return no;
  // A file that goes away takes nothing along. Of two that change places the one that leads on.
  const mode_t type = exchange && !leads_on(moved.type) ? back.type : moved.type;
  if (exchange || moved.type != S_IFREG)
    if (auto no = refuse_above_block(call, from.path(), type)) return no;
  if (auto no = refuse_above_block(call, to.path(), type)) return no;
  if (auto no = refuse_loss(call, from.path(), to.path())) return no;
  if (exchange) return refuse_loss(call, to.path(), from.path());
  return std::nullopt;
}

Reply serve_rename(Call& call) {
  const bool at = call.number() != __NR_rename;
  const uint32_t flags = call.number() == __NR_renameat2 ? call.flags_arg(4) : 0;
  if ((flags & ~static_cast<uint32_t>(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) != 0 ||
      ((flags & RENAME_EXCHANGE) != 0 && flags != RENAME_EXCHANGE))
    return Reply::error(EINVAL);
  if ((flags & RENAME_WHITEOUT) != 0) return Reply::error(EPERM);  // makes a device node

  Name from;
  Name to;
  const int from_folder = at ? call.fd_arg(0) : AT_FDCWD;
  const int to_folder = at ? call.fd_arg(2) : AT_FDCWD;
  if (const int error = from.find(call, from_folder, call.arg(at ? 1 : 0)); error != 0)
    return Reply::error(error);
  if (const int error = to.find(call, to_folder, call.arg(at ? 3 : 1)); error != 0)
    return Reply::error(error);
  // In the kernel's order.
  if (mount_of(from.folder()) != mount_of(to.folder())) return Reply::error(EXDEV);
  if (!from.has_name()) return Reply::error(EBUSY);
  if (!to.has_name()) return Reply::error((flags & RENAME_NOREPLACE) != 0 ? EEXIST : EBUSY);
  struct stat about {};
  if (!from.exists(&about)) return Reply::error(errno);

  if (flags == 0 && from.path() == to.path() + ".lock" && S_ISREG(about.st_mode) &&
      repository_part(call, to.path()) == RepositoryPart::kConfig) {
    RenameRight right(call, RenameLock::Change::kFile, {&from, &to});
    return right.reply ? std::move(*right.reply) : replace_config(call, from.at(), to.at());
  }

  const bool exchange = (flags & RENAME_EXCHANGE) != 0;
  if (auto no = call.refuse_unless(Kind::kWrite, from.path())) return std::move(*no);
  if (auto no = call.refuse_unless(Kind::kWrite, to.path())) return std::move(*no);
  // Once: what is there in the end must be what is decided on now.
  const Moved moved = Moved::of(from);
  const Moved replaced = Moved::of(to);
  const Moved back = exchange ? replaced : Moved();
  if (auto no = refuse_device(call, true, from.path(), moved.type)) return std::move(*no);
  if (auto no = refuse_device(call, true, to.path(), replaced.type)) return std::move(*no);
  if (from.is_mount_point() || to.is_mount_point()) return Reply::error(EBUSY);
  note_planted(call, to.path());
  if (auto no = refuse_move(call, exchange, moved, back, from, to)) return std::move(*no);
  const bool free = links_are_free(call);
  if (!free) {
    // All links of a folder are looked at: others do not wait for that.
    if ((moved.type == S_IFDIR || back.type == S_IFDIR) && !call.may_block()) return Reply::later();
    if (auto no = refuse_link(call, to.path(), moved.target)) return std::move(*no);
    if (auto no = refuse_link(call, from.path(), back.target)) return std::move(*no);
  }

  call.service().walker.note_change();
  withdraw_from_kernel(call.service().plan, from.path());
  withdraw_from_kernel(call.service().plan, to.path());
  // A folder does not shrink when a name leaves it.
  note_taken(call, to.folder(), kNameBytes);
  if (free && from.kernel_may_write(call) && to.kernel_may_write(call)) return Reply::go_on();
  const bool plain = moved.type == S_IFREG && (!exchange || back.type == S_IFREG);
  RenameRight right(call, plain ? RenameLock::Change::kFile : RenameLock::Change::kLinkOrFolder,
                    {&from, &to});
  if (right.reply) return std::move(*right.reply);
  if (!free) {
    if (Moved::of(from) != moved || (exchange && Moved::of(to) != back)) return Reply::error(EBUSY);
    if (moved.type == S_IFDIR)
      if (auto no = refuse_moved_tree(call, from.folder(), from.bare_name().c_str(), to.path()))
        return std::move(*no);
    if (back.type == S_IFDIR)
      if (auto no = refuse_moved_tree(call, to.folder(), to.bare_name().c_str(), from.path()))
        return std::move(*no);
  }
  if (!call.still_valid()) return Reply::error(EINTR);
  const auto done =
      syscall(SYS_renameat2, from.folder(), from.name(), to.folder(), to.name(), flags);
  call.service().walker.note_change();
  if (done == 0 && moved.type == S_IFDIR && call.is_own(to.path()) &&
      call.service().spare_folders != nullptr && starts_programs(call, from.path()))
    call.service().spare_folders->note_move(to.path());
  return result(done);
}

Reply serve_link(Call& call) {
  const bool at = call.number() == __NR_linkat;
  const uint32_t flags = at ? call.flags_arg(4) : 0;
  if ((flags & ~static_cast<uint32_t>(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0)
    return Reply::error(EINVAL);
  const int from_folder = at ? call.fd_arg(0) : AT_FDCWD;
  const Walker& walker = call.service().walker;

  std::string from_path;
  if (const int error = walker.read_path(call, call.arg(at ? 1 : 0), &from_path); error != 0)
    return Reply::error(error);
  Found from;
  bool plain = false;
  Spelling spelling;
  if (from_path.empty() && (flags & AT_EMPTY_PATH) != 0) {
    if (const int error = walker.resolve_descriptor(call, from_folder, &from); error != 0)
      return Reply::error(error);
  } else {
    if (const int error = walker.spell(call, from_folder, from_path, &spelling); error != 0)
      return Reply::error(error);
    const Follow follow = (flags & AT_SYMLINK_FOLLOW) != 0 ? Follow::kYes : Follow::kNo;
    if (const int error = walker.resolve(call, spelling, follow, &from); error != 0)
      return Reply::error(error);
    plain = !spelling.parents && from.canonical == spelling.text;
  }
  if (const int error = Walker::look(&from); error != 0) return Reply::error(error);

  Name to;
  if (const int error = to.find(call, at ? call.fd_arg(2) : AT_FDCWD, call.arg(at ? 3 : 1));
      error != 0)
    return Reply::error(error);
  struct stat about {};
  if (!to.has_name() || to.exists(&about)) return Reply::error(EEXIST);
  if (call.has_no_room(to.path())) return Reply::error(EDQUOT);
  if (mount_of(from.fd.get()) != mount_of(to.folder())) return Reply::error(EXDEV);
  if (S_ISDIR(from.type)) return Reply::error(EPERM);
  if (auto no = refuse_device(call, from.is_path, from.canonical, from.type)) return std::move(*no);

  if (from.is_path) {
    // Both rights on the source: a second name would outlive any later block of the first.
    for (const Kind kind : {Kind::kRead, Kind::kWrite})
      if (auto no = refuse_name(call, kind, spelling, from.canonical)) return std::move(*no);
    if (auto no = call.refuse_unless(Kind::kRead, from.canonical)) return std::move(*no);
    if (auto no = call.refuse_unless(Kind::kWrite, from.canonical)) return std::move(*no);
    // By its second name it could be written.
    if (auto no = refuse_above_block(call, from.canonical, from.type)) return std::move(*no);
  } else if (from.links != 0 || !from.held || (*from.held & O_ACCMODE) == O_RDONLY) {
    // Only what O_TMPFILE made has no name and can be given one; it is the caller's if writable.
    call.note_refusal(Kind::kWrite, from.canonical, "not a file of the compartment's own");
    return Reply::error(EACCES);
  }
  if (auto no = call.refuse_unless(Kind::kWrite, to.path())) return std::move(*no);
  if (auto no = refuse_device(call, true, to.path(), 0)) return std::move(*no);
  if (auto no = refuse_above_block(call, to.path(), from.type)) return std::move(*no);
  if (auto no = refuse_loss(call, from.canonical, to.path())) return std::move(*no);
  const bool free = links_are_free(call);
  if (S_ISLNK(from.type) && !free) {
    char target[PATH_MAX];
    const ssize_t n = ::readlinkat(from.fd.get(), "", target, sizeof target);
    if (n <= 0) return Reply::error(n < 0 ? errno : ENOENT);
    if (auto no = refuse_link(call, to.path(), std::string_view(target, static_cast<size_t>(n))))
      return std::move(*no);
  }
  call.service().walker.note_change();
  note_taken(call, to.folder(), kNameBytes);
  if (free && plain && kernel_may(call, Kind::kWrite, from.canonical) &&
      kernel_may(call, Kind::kRead, from.canonical) && to.kernel_may_write(call))
    return Reply::go_on();
  RenameRight right(
      call, S_ISREG(from.type) ? RenameLock::Change::kFile : RenameLock::Change::kLinkOrFolder,
      {&to});
  if (right.reply) return std::move(*right.reply);
  if (!call.still_valid()) return Reply::error(EINTR);
  return result(
      ::linkat(AT_FDCWD, OwnLink(from.fd.get()).text, to.folder(), to.name(), AT_SYMLINK_FOLLOW));
}

Reply serve_symlink(Call& call) {
  const bool at = call.number() == __NR_symlinkat;
  const Walker& walker = call.service().walker;
  std::string target;
  if (const int error = walker.read_path(call, call.arg(0), &target); error != 0)
    return Reply::error(error);
  if (target.empty()) return Reply::error(ENOENT);
  Name name;
  if (const int error = name.find(call, at ? call.fd_arg(1) : AT_FDCWD, call.arg(at ? 2 : 1));
      error != 0)
    return Reply::error(error);
  struct stat about {};
  if (!name.has_name() || name.exists(&about)) return Reply::error(EEXIST);
  if (call.has_no_room(name.path())) return Reply::error(EDQUOT);
  if (auto no = call.refuse_unless(Kind::kWrite, name.path())) return std::move(*no);
  if (auto no = refuse_device(call, true, name.path(), 0)) return std::move(*no);
  if (auto no = refuse_above_block(call, name.path(), S_IFLNK)) return std::move(*no);
  if (auto no = refuse_link(call, name.path(), target)) return std::move(*no);
  walker.note_change();
  // Of a short one the text stands in the link itself.
  note_taken(call, name.folder(), target.size() < kShortLink ? kNameBytes : kBlock);
  // Elsewhere never: the kernel would read both texts again, and they may be others by then.
  if (links_are_free(call) && name.kernel_may_write(call)) return Reply::go_on();
  RenameRight right(call, RenameLock::Change::kLinkOrFolder, {&name});
  if (right.reply) return std::move(*right.reply);
  if (!call.still_valid()) return Reply::error(EINTR);
  return result(::symlinkat(target.c_str(), name.folder(), name.name()));
}

}  // namespace bulkhead
