#include "sandbox/calls/repository.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "policy/git_settings.h"
#include "policy/repository_config.h"
#include "policy/rule_match.h"
#include "sandbox/calls/common.h"

namespace bulkhead {

namespace {

constexpr std::string_view kGroup = "git-hooks";
constexpr const char* kHooks = "hooks";
constexpr mode_t kModes = 0755;  // nobody else comes to write it

// "**/*.git/modules/*/config": of git's folders; the group blocks the settings of other tools, too.
bool names_part(const Rule& rule, std::string_view part) {
  return rule.source == Rule::Source::kBuiltin && rule.group == kGroup &&
         (rule.text.starts_with("**/*.git/") || rule.text.starts_with("**/.bare/")) &&
         last_of(rule.text) == part;
}

// Granted for writing, and blocked by nothing but git's block of that part.
bool is_blocked_as(const Policy& policy, const std::string& path, std::string_view part) {
  const Decision decision = policy.decide_path(Kind::kWrite, path);
  if (decision.verdict != Verdict::kDeny || !names_part(policy.rule(decision.rule), part))
    return false;
  bool granted = false;
  for (const RuleId id : matching_rules(policy, Kind::kWrite, path)) {
    const Rule& rule = policy.rule(id);
    granted = granted || rule.verdict == Verdict::kAllow;
    if (rule.verdict == Verdict::kDeny && !names_part(rule, part)) return false;
  }
  return granted;
}

// nullopt: no regular file, too large, or not to be read. `about` is of what was read.
std::optional<std::string> content_of(const EntryAt& entry, struct stat* about) {
  const Fd file(::openat(entry.folder, entry.name,
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), about) != 0 || !S_ISREG(about->st_mode)) return std::nullopt;
  std::string text(kMostGitSettings + 1, '\0');
  size_t size = 0;
  for (;;) {
    const ssize_t n =
        ::pread(file.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (n < 0) return std::nullopt;
    size += static_cast<size_t>(n);
    if (size > kMostGitSettings) return std::nullopt;
    if (n == 0) break;
  }
  text.resize(size);
  return text;
}

Reply refused(Call& call, const std::string& path, std::string_view why) {
  const Policy& policy = call.service().judge.policy();
  const Decision decision = policy.decide_path(Kind::kWrite, path);
  call.note_refusal(Kind::kWrite, path,
                    fmt::format("{}; {}", reason_of(policy.rule(decision.rule)), why));
  return Reply::error(EACCES);
}

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The folder of hooks beside the settings, made where there is none; of its own device, and no
// link.
Fd open_hooks(int folder) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd hooks(::openat(folder, kHooks, kFlags));
  if (!hooks && errno == ENOENT && ::mkdirat(folder, kHooks, kModes) == 0)
    hooks.reset(::openat(folder, kHooks, kFlags));
  return hooks;
}

// The file that is to be the settings: in the folder of hooks, where nobody inside can open it to
// write it later on, whatever watches the folder. 0 or errno.
int make_copy(int hooks, const std::string& name, std::string_view text, const struct stat& as) {
  const Fd copy(::openat(hooks, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         S_IRUSR | S_IWUSR));
  if (!copy) return errno;
  if (as.st_uid != ::geteuid() || as.st_gid != ::getegid())
    (void)::fchown(copy.get(), as.st_uid, as.st_gid);
  if (write_whole(copy.get(), text) && ::fchmod(copy.get(), as.st_mode & kModes) == 0) return 0;
  const int error = errno;
  (void)::unlinkat(hooks, name.c_str(), 0);
  return error;
}

std::string name_of_copy() {
  uint64_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  return fmt::format(".config.{:016x}", number);
}

bool is_of_workspace(const Policy& policy, const std::string& config) {
  const std::string_view project = parent_of(parent_of(config));
  return std::any_of(policy.workspace().begin(), policy.workspace().end(),
                     [project](const std::string& each) { return each == project; });
}

}  // namespace

RepositoryPart repository_part(const Call& call, const std::string& path) {
  const Judge& judge = call.service().judge;
  if (judge.enforcement() == Enforcement::kAuditOnly || call.is_own(path))
    return RepositoryPart::kNone;
  const std::string_view name = last_of(path);
  const auto if_blocked = [&](std::string_view part, RepositoryPart is) {
    return is_blocked_as(judge.policy(), path, part) ? is : RepositoryPart::kNone;
  };
  if (name == kHooks) return if_blocked(kHooks, RepositoryPart::kHooks);
  if (name == "config") return if_blocked("config", RepositoryPart::kConfig);
  const std::string folder(parent_of(path));
  if (name.ends_with(".sample") && last_of(folder) == kHooks &&
      is_blocked_as(judge.policy(), folder, kHooks))
    return if_blocked(kHooks, RepositoryPart::kSample);
  return RepositoryPart::kNone;
}

std::optional<Reply> refuse_config_removal(Call& call, const EntryAt& config) {
  struct stat about {};
  const auto text = content_of(config, &about);
  if (!text) return refused(call, config.path, "what it sets cannot be told");
  const bool own = is_of_workspace(call.service().judge.policy(), config.path);
  const Status harmless =
      own ? judge_repository_config(*text, "") : judge_repository_config("", *text);
  if (harmless.ok()) return std::nullopt;
  return refused(call, config.path,
                 fmt::format("it cannot be removed: {}", harmless.error().message));
}

Reply replace_config(Call& call, const EntryAt& lock, const EntryAt& config) {
  for (const Kind kind : {Kind::kRead, Kind::kWrite})
    if (auto no = call.refuse_unless(kind, lock.path)) return std::move(*no);
  struct stat about {};
  struct stat was {};
  const auto after = content_of(lock, &about);
  if (!after) return refused(call, config.path, "what would be set cannot be told");
  std::optional<std::string> before = content_of(config, &was);
  if (!before && ::fstatat(config.folder, config.name, &was, AT_SYMLINK_NOFOLLOW) != 0 &&
      errno == ENOENT)
    before.emplace();
  if (!before) return refused(call, config.path, "what is set cannot be told");
  if (const Status harmless = judge_repository_config(*before, *after); !harmless.ok())
    return refused(call, config.path, harmless.error().message);
  if (!call.still_valid()) return Reply::error(EINTR);
  const Fd hooks = open_hooks(config.folder);
  if (!hooks) return refused(call, config.path, "its folder of hooks is a link, or is not there");
  const std::string copy = name_of_copy();
  if (const int error = make_copy(hooks.get(), copy, *after, about); error != 0)
    return Reply::error(error);
  call.service().walker.note_change();
  if (::renameat(hooks.get(), copy.c_str(), config.folder, config.name) != 0) {
    const int error = errno;
    (void)::unlinkat(hooks.get(), copy.c_str(), 0);
    return Reply::error(error);
  }
  // A lock that cannot be removed would keep git from the settings; the change is made all the
  // same.
  (void)::unlinkat(lock.folder, lock.name, 0);
  note_taken(call, config.folder, kNameBytes + after->size());
  return Reply::value(0);
}

}  // namespace bulkhead
