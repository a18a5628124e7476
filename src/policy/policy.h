// Policy: the immutable result that the code decides by. Grants, less the blocklists, over
// the baseline. decide_*() neither allocate nor lock nor touch the file system, and may be
// called from any thread.
//
// Order: a block (built-in, organisation, user, manifest, a remembered "never") denies; a grant
// (manifest, command line, a remembered "always") or the baseline allows; `otherwise` asks or
// denies. A block always wins; specificity never matters.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access.h"
#include "policy/address.h"
#include "policy/manifest.h"

namespace bulkhead {

struct Rule {
  enum class Source : uint8_t {
    kOtherwise,
    kBuiltin,
    kOrganisation,
    kUser,
    kManifest,
    kCommandLine,
    kRemembered,
    kBaseline,
    kTelemetry  // refused where a person would be asked
  };
  Source source = Source::kOtherwise;
  Verdict verdict = Verdict::kDeny;
  uint16_t kinds = 0;    // bit per Kind that it speaks of
  std::string text;      // as written: "${workspace}/.env"
  std::string resolved;  // after variables and sets: "/home/me/project/.env"
  std::string group;     // blocklist group or set that it came from; may be empty
  std::string reason;    // for people; may be empty
  Location where;
  // It grants by a file's name, which says nothing of what that holds: only a regular file of this
  // user's with that one name may be read by it. A judge looks.
  bool own_file = false;
};
std::string_view label(Rule::Source source);

// A tree that is granted whole: every path in it is granted and nothing in it is blocked or could
// be (no wildcard block may match inside). The supervisor may let the kernel decide there.
struct WholeTree {
  std::string path;
  bool read = false;
  bool write = false;    // content and status
  bool is_file = false;  // named by a rule and known to be a single file when compiled: never set
                         // by the compiler today; plan.cc stats
};

// What ${…} stands for. Canonical absolute paths (symlinks resolved by the caller).
struct Variables {
  std::vector<std::string> workspace;  // several folders in a multi-root workspace; may be empty
  bool may_lack_workspace = false;     // a window without a folder: its entries are left out
  std::string extension;               // the extension's or program's own folder; may be empty
  std::string storage;                 // its own writable folder; may be empty
  std::string home;
  std::string config;                 // bulkhead's own configuration folder
  std::string state;                  // bulkhead's own state folder: journal, storage
  std::string runtime;                // XDG_RUNTIME_DIR; may be empty
  std::vector<std::string> bulkhead;  // what it runs itself: see own_files()
  // Of the machine's people (policy/homes.h): where one of them meets a grant, the blocklists'
  // ${home}, ${config} and ${state} count in it as well. `home` may be among them.
  std::vector<std::string> other_homes = {};
};

// A remembered answer, or a command-line flag.
struct Extra {
  Rule::Source source = Rule::Source::kCommandLine;
  Verdict verdict = Verdict::kAllow;  // never kAsk
  Kind kind = Kind::kRead;
  Entry entry;  // same syntax as in a manifest's list of that kind
};

struct PolicyInputs {
  Manifest manifest;                 // what is granted of it: all, by whoever calls this
  std::optional<Manifest> baseline;  // baseline rules, allowed with Source::kBaseline
  std::vector<Blocklist> blocklists;
  std::vector<std::string>
      lifted;  // built-in block groups lifted by the user, by name; "all" lifts every built-in one.
               // Never those of an organisation. An unknown name is an error.
  std::vector<Extra> extras;
  Sets sets;
  Variables variables;
  std::vector<std::string>
      scratch;  // private trees (/tmp, /dev/shm): read and write allowed, exempt from wildcard
                // blocks because they are the compartment's own and end with it
  // A scratch tree that a grant names, or lies in, is left out: it is the machine's own then.
  bool scratch_yields_to_grants = false;
  std::vector<std::string> search_path;  // absolute folders in which `run` names are looked up
  std::string subject;  // whose the policy is; empty: the manifest's extension, if it is of one
};

class Policy {
 public:
  // Looks up program names in search_path and follows #! lines of granted scripts (the only file
  // accesses). Incoherent or unenforceable input is refused with all findings at once: relative
  // paths, unknown variables, sets or vscode permissions, "*" hosts with a name rule in a block, a
  // write grant in a set, limits of zero, an empty variable that a rule needs.
  static Result<std::shared_ptr<const Policy>> compile(const PolicyInputs& inputs);
  ~Policy();

  // `path` canonical (see is_canonical); anything else is denied by rule
  // kOtherwiseRule.
  // kRead, kWrite, kReadStatus, kWriteStatus, kRun.
  Decision decide_path(Kind kind, std::string_view path) const noexcept;

  // True where `path` is or lies above a blocked path (or could, for wildcard blocks): renaming it
  // would move the blocked path out of its rule. "**/.git/hooks" goes along with a folder that is
  // renamed, so it stops renaming "x/.git" but not "x". Ask for both ends of a rename: naming a
  // folder
  // ".git" is as good. Also true above a granted tree inside a scratch tree, which is bound there.
  bool above_block(std::string_view path) const noexcept;

  // The same for what is neither a folder nor a link, and so has nothing below it: true where it
  // could stand for a folder that a rule names, as a file ".git" does for git. Where the rule has
  // any name there ("**/.git/modules/*/config") it stands for nothing.
  bool stands_above_block(std::string_view path) const noexcept;

  // True where a path below the folder `path` is blocked for reading by where it is: a symlink to
  // the folder is a way around that name. Blocks such as "**/.env" hold by whichever way one comes.
  bool above_read_block(std::string_view path) const noexcept;

  // True where `path`, or something below it, is granted for reading by where it is: a folder that
  // comes to have that name brings its content into the grant.
  bool above_read_grant(std::string_view path) const noexcept;

  // Every path there is may be read, or (kWrite) written: "/" is granted whole, nothing is blocked.
  bool allows_everything(Kind kind) const noexcept;

  // In a scratch tree: a compartment has its own there. Whoever acts for it outside, where the path
  // is somebody else's file, must not.
  bool in_scratch(std::string_view path) const noexcept;

  // A connection to `address`. `names` are the names that the resolver gave this address
  // for, normalised. Special addresses (IpAddress::is_special) are allowed by address rules
  // only ("10.0.0.5:443", "10.0.0.0/8:443", "localhost:80" for loopback), never by a name
  // that resolves there.
  Decision decide_connect(const IpAddress& address, uint16_t port,
                          std::span<const std::string_view> names) const noexcept;
  // Resolving a name: allowed where some network grant names it, whatever the port.
  Decision decide_lookup(std::string_view normalized_name) const noexcept;
  // Publishing a port of the compartment on the machine's loopback.
  Decision decide_listen(uint16_t port) const noexcept;
  Decision decide_environment(std::string_view name) const noexcept;
  Decision decide_vscode(std::string_view permission) const noexcept;

  const std::vector<Rule>& rules() const noexcept;
  const Rule& rule(RuleId id) const noexcept { return rules()[id]; }
  const Limits& limits() const noexcept;
  Otherwise otherwise() const noexcept;
  // Sorted by path; a tree inside another with the same rights is left out.
  const std::vector<WholeTree>& whole_trees() const noexcept;
  // Concrete trees named in files.hide, sorted.
  const std::vector<std::string>& hidden() const noexcept;
  // What may be read may run as well: "@programs".
  bool runs_what_it_reads() const noexcept;
  // Canonical paths of programs that may run, where that is a finite list (names resolved, script
  // interpreters included); trees granted for running are in runnable_trees().
  const std::vector<std::string>& runnable_files() const noexcept;
  const std::vector<std::string>& runnable_trees() const noexcept;
  // The home folder, where the compartment is to have one of its own there (files.private); else
  // "". decide_path() speaks of the machine's: whoever acts for the compartment outside acts on
  // that.
  const std::string& private_home() const noexcept;
  const std::vector<std::string>& workspace() const noexcept;
  const std::string& subject() const noexcept;  // whose answers are remembered; may be empty
  // What was left out while compiling and does not matter enough to refuse: rules of the baseline,
  // a set or a blocklist whose variable is empty here, programs that are not installed.
  const std::vector<Diagnostic>& notes() const noexcept;

 private:
  struct Data;
  explicit Policy(std::unique_ptr<const Data> data);
  std::unique_ptr<const Data> data_;
};

}  // namespace bulkhead
