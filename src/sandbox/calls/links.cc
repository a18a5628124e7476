// What a symlink would lead to. Programs outside follow links with their own rights: a link that
// the compartment plants where it may write would make them read or write for it what it may not
// read or write itself.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <vector>

#include "policy/covers.h"
#include "sandbox/caller/pool.h"
#include "sandbox/calls/common.h"
#include "sandbox/calls/symlinks.h"
#include "sandbox/kernel/openat2.h"

namespace bulkhead {

namespace {

// Below a tree that the compartment has to itself, and not bound from outside.
bool is_private(const Plan& plan, std::string_view path) {
  if (!(plan.private_tmp && is_within(path, "/tmp")) &&
      !(plan.private_shm && is_within(path, "/dev/shm")))
    return false;
  return std::none_of(plan.binds.begin(), plan.binds.end(),
                      [path](const std::string& bind) { return is_within(path, bind); });
}

// In a folder that stays when the run ends.
bool is_kept(const Plan& plan, std::string_view path) {
  return std::any_of(plan.kept.begin(), plan.kept.end(),
                     [path](const KeptFolder& kept) { return is_within(path, kept.place); });
}

int resolve_text(const Call& call, std::string_view text, Magic magic, Found* found) {
  Spelling spelling;
  if (const int error = call.service().walker.spell(call, AT_FDCWD, text, &spelling); error != 0)
    return error;
  spelling.no_magic = magic == Magic::kKept;
  return call.service().walker.resolve(call, spelling, Follow::kYes, found);
}

// What absolute `text` leads to outside, where nothing is mounted for the compartment; from where
// nothing is, by the text alone.
std::string meaning_outside(const std::string& text) {
  std::error_code error;
  const std::string path = std::filesystem::weakly_canonical(text, error).string();
  return error ? std::string() : normalize(path);
}

// Why the path means something else to whoever follows it outside; nullptr where it does not.
const char* other_meaning(const Plan& plan, const std::string& path) {
  if (path == "/proc") return "it holds other processes for whoever follows the link";
  if (const auto place = parse_proc(path)) {
    for (const std::string_view harmless : {"/fd/0", "/fd/1", "/fd/2", "/mounts"})
      if (place->rest == harmless) return nullptr;
    return "it is another process for whoever follows the link";
  }
  if (!is_private(plan, path)) return nullptr;
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 && (errno == ENOENT || errno == ENOTDIR)) return nullptr;
  return "it is another file for whoever follows the link outside, where /tmp and /dev/shm differ";
}

// Root may write everything, but programs of root's own do not write these through a link in a
// project: python -m venv makes links to them, node-gyp and checkouts do. A folder is no such file,
// nor a name that is yet to be made: what comes there may be a start-up file.
bool is_file_of_the_system(const std::string& path, const struct stat& about) {
  constexpr std::string_view kTrees[] = {"/usr",   "/bin", "/sbin", "/lib", "/lib32",
                                         "/lib64", "/etc", "/opt",  "/nix"};
  return ::geteuid() == 0 && S_ISREG(about.st_mode) && about.st_uid == 0 &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         std::any_of(std::begin(kTrees), std::end(kTrees),
                     [&path](std::string_view tree) { return is_within(path, tree); });
}

// By this user, outside. What the user owns can be made writable.
bool could_be_written(std::string path) {
  bool itself = true;
  for (;;) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0)
      return !(itself && is_file_of_the_system(path, about)) &&
             (about.st_uid == ::getuid() || ::access(path.c_str(), W_OK) == 0);
    itself = false;
    if ((errno != ENOENT && errno != ENOTDIR) || path == "/") return true;
    path = parent_of(path);
  }
}

// A folder, or what may become one.
bool may_hold_others(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) != 0 || S_ISDIR(about.st_mode);
}

// More than anybody writes; each is looked up, along with all that stands before it.
constexpr int kMostClimbs = 40;

// Whether the compartment may change what a name before a ".." of `target` is, or there are too
// many to tell. `text` is the target made absolute.
bool climbs_from_a_changeable_name(const Call& call, const std::string& text,
                                   std::string_view target) {
  bool named = false;
  int climbs = 0;
  const size_t start = text.size() - target.size();
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view each = take_component(&rest);
    const size_t at = text.size() - rest.size() - each.size();
    if (each != "..") {
      named = named || (at >= start && !each.empty() && each != ".");
      continue;
    }
    if (!named) continue;
    if (++climbs > kMostClimbs) return true;
    const std::string before = text.substr(0, at);
    Found found;
    if (call.would_allow(Kind::kWrite, normalize(before)) ||
        resolve_text(call, before, Magic::kKept, &found) != 0 || !found.is_path ||
        call.would_allow(Kind::kWrite, found.canonical))
      return true;
  }
  return false;
}

}  // namespace

std::string meaning(const Call& call, std::string text, Magic magic) {
  for (int links = 0; links <= kMostLinks; ++links) {
    Found found;
    const int error = resolve_text(call, text, magic, &found);
    if ((error == 0 && found.is_path) || Walker::may_be_created(error, found))
      return found.canonical;
    // The longest part that is there. What follows a missing folder is missing too, so by halves:
    // a target may have 2,000 components.
    std::vector<size_t> ends;
    for (size_t i = 1; i <= text.size(); ++i)
      if ((i == text.size() || text[i] == '/') && text[i - 1] != '/') ends.push_back(i);
    size_t there = 0;
    size_t missing = ends.size();
    std::string base = "/";
    while (there + 1 < missing) {
      const size_t middle = (there + missing) / 2;
      Found part;
      if (resolve_text(call, text.substr(0, ends[middle - 1]), magic, &part) == 0 && part.is_path) {
        there = middle;
        base = std::move(part.canonical);
      } else {
        missing = middle;
      }
    }
    const size_t from = there == 0 ? 0 : ends[there - 1];
    const std::string_view unresolved = std::string_view(text).substr(from);
    std::string_view rest = unresolved;
    const std::string next = entry_path(base, take_component(&rest));
    // A dangling link of somebody else's on the way.
    Fd link;
    char target[PATH_MAX];
    ssize_t n = -1;
    if (!is_within(base, "/proc") && is_canonical(next) &&
        call.service().walker.open_exact(next, O_PATH | O_NOFOLLOW, 0, &link) == 0)
      n = ::readlinkat(link.get(), "", target, sizeof target);
    if (n <= 0) return normalize(base.append("/").append(unresolved));
    std::string to(target, static_cast<size_t>(n));
    if (to[0] != '/') to = entry_path(base, to);
    text = to.append(rest);
  }
  return normalize(text);
}

bool links_are_free(const Call& call) {
  const Judge& judge = call.service().judge;
  return judge.enforcement() == Enforcement::kAuditOnly ||
         (judge.policy().allows_everything(Kind::kRead) &&
          judge.policy().allows_everything(Kind::kWrite));
}

std::optional<Reply> refuse_link(Call& call, std::string_view link, std::string_view target,
                                 Asking asking) {
  const Plan& plan = call.service().plan;
  const Policy& policy = call.service().judge.policy();
  if (target.empty() || links_are_free(call) || call.is_own(link) ||
      (is_private(plan, link) && !is_kept(plan, link)))
    return std::nullopt;
  const auto refuse = [&](Kind kind, const std::string& path, const char* reason) {
    call.note_refusal(kind, path, reason);
    return Reply::error(EACCES);
  };
  call.restore_steps();
  std::string text(target);
  if (text[0] != '/') text = std::string(parent_of(link)) + "/" + text;
  if (climbs_from_a_name(target) && climbs_from_a_changeable_name(call, text, target))
    return refuse(Kind::kRead, normalize(text),
                  "a link through a folder and \"..\", which may lead elsewhere later");
  const std::string outside = plan.home ? meaning_outside(text) : std::string();
  const std::string path = meaning(call, std::move(text), Magic::kKept);
  // By a link in the private home the same words lead elsewhere.
  if (plan.home && !is_within(path, "/proc") && (call.is_own(path) || outside != path))
    return refuse(
        Kind::kRead, path,
        "it is another file for whoever follows the link outside, where the home differs");
  // A link to a folder is a way to all that is in it, which who may list its names need not read.
  const std::string reach = may_hold_others(path) ? inside(path) : path;
  if (call.is_spent()) return refuse(Kind::kRead, path, "a link that leads around for too long");
  if (!policy.allows_everything(Kind::kRead)) {
    if (const char* reason = other_meaning(plan, path)) return refuse(Kind::kRead, path, reason);
    // Standard streams and the like are nobody's secret; everything else as if it were read.
    if (parse_proc(path)) return std::nullopt;
    const Judge::Ruling listing = call.would_rule(Kind::kRead, path);
    if (reach != path && listing != Judge::Ruling::kDeny && !call.would_allow(Kind::kRead, reach))
      return refuse(Kind::kRead, path, "a link to it would lead to what is in it");
    if (listing != Judge::Ruling::kAllow) {
      if (asking == Asking::kNo)
        return refuse(Kind::kRead, path, "a link in the folder would lead to it");
      if (auto no = call.refuse_unless(Kind::kRead, path)) return no;
    }
    if (policy.above_read_block(path))
      return refuse(Kind::kRead, path, "a link to it would lead to a blocked path below");
  }
  // Nobody is asked: who makes a link seldom means that somebody shall write through it.
  if (!is_within(path, "/proc") && could_be_written(path)) {
    if (!call.would_allow(Kind::kWrite, reach))
      return refuse(Kind::kWrite, path, "who writes to the link outside would write there");
    if (policy.above_block(path))
      return refuse(Kind::kWrite, path, "a link to it would lead to a blocked path below");
  }
  return std::nullopt;
}

std::optional<Reply> refuse_moved_tree(Call& call, int folder, const char* name,
                                       std::string_view to) {
  std::optional<Reply> no;
  const int error =
      for_each_symlink(folder, name, [&](const std::string& path, const std::string& target) {
        no = refuse_link(call, std::string(to) + "/" + path, target, Asking::kNo);
        // Nobody waits for it any more, and the end of the compartment waits for us.
        if (!no && (pool_is_stopping() || !call.still_valid())) no = Reply::error(EINTR);
        return !no;
      });
  if (no || error == 0) return no;
  return Reply::error(error);
}

}  // namespace bulkhead
