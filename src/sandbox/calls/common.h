// What handlers share: arguments, set-id bits, the paths of descriptors.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "sandbox/caller/walker.h"
#include "sandbox/calls/call.h"
#include "sandbox/kernel/openat2.h"
#include "sandbox/kernel/pending_signal.h"

namespace bulkhead {

// Magic link to a descriptor of ours: reopens, chmods … exactly what the descriptor is.
struct OwnLink {
  char text[32];
  explicit OwnLink(int fd);
};

// What a call is answered that was interrupted where it waits; nullopt: it waits on. The kernel
// begins some calls again for a handler with SA_RESTART, others never (signal(7)).
std::optional<Reply> interrupted(const Call& call, PendingSignal signal, bool begins_again);

// The umask of the caller, for this thread until the call ends. 0, or ESRCH when it is gone.
int adopt_umask(Call& call);

// Files outlive the run, so a compartment leaves no set-user-ID or set-group-ID program behind, nor
// one that an access list makes such (acl(5) gives the group's execute permission). On a folder
// set-group-ID is no privilege: ask for other files only.
inline bool makes_privileged(mode_t mode) { return (mode & (S_ISUID | S_ISGID)) != 0; }
// EPERM for such a mode (journalled), nullopt otherwise and in audit runs.
std::optional<Reply> refuse_privileged(Call& call, mode_t mode, const std::string& what);

// The name, mode, owner and times of a device belong to the machine, and outlive the compartment: a
// grant to write to /dev/null is none to shut it for everybody, to take it away, or to put
// something else in its place. So with all names below /dev, also those that are not there (`type`
// 0). EPERM (journalled), or nullopt.
std::optional<Reply> refuse_device(Call& call, bool is_path, const std::string& path, mode_t type);
// Below the machine's /dev, and not in what a compartment has of its own there: terminals, queues.
bool is_in_dev(std::string_view path) noexcept;

// Reads and spells the path at `address`, relative to `folder`. 0 or errno.
int spell_argument(const Call& call, int folder, uint64_t address, Spelling* spelling);

// The file system is memory (tmpfs), as that of memfds is.
bool is_in_memory(int fd) noexcept;

// Counts `bytes` of the file system that `fd` is on as written by the compartment, where that is
// limited and no memory: what a call takes there without writing, the kernel counts for nobody.
void note_taken(const Call& call, int fd, uint64_t bytes);
// A name that a call makes in a folder, and the file's entry in the file system's tables.
inline constexpr uint64_t kNameBytes = 512;

// Of a type (S_IF…) by which a path can go on: a folder's, or a link's.
bool leads_on(mode_t type) noexcept;

// For what is at `path` (canonical), or would be: EACCES, journalled, where a block speaks of what
// lies below, or would lie below a folder of that name ("**/.git/hooks" of "x/.git"). Moving the
// folder, or putting there what is none (a link, a file in which git reads which folder it stands
// for), would be a way around the block. `type` is that of what is or comes there: what leads
// on counts also where such a block has any name. nullopt otherwise and in audit runs.
std::optional<Reply> refuse_above_block(Call& call, const std::string& path, mode_t type);

// Journals that the program looked for what is in the machine's home and not in its own, where it
// may not read that: who tries to steal a key is told of, though it finds none.
void note_unseen(Call& call, const std::string& path);
// The same for what was looked for by `spelling`, through whatever links and "..", and not found.
void note_unseen(Call& call, const Spelling& spelling, const Found& found);
// The same for what is written in its own home by a name that is blocked in the machine's: who
// tries to leave a start-up file there is told of, though nobody executes it.
void note_planted(Call& call, const std::string& path);

// For what was found as `canonical` by the name that `spelling` is: EACCES, journalled, where a
// block speaks of that name, since "**/.env" means the name, whatever a link of that name leads to.
// nullopt otherwise. Of several links on the way only the first one's name is known.
std::optional<Reply> refuse_name(Call& call, Kind kind, const Spelling& spelling,
                                 std::string_view canonical);
bool is_blocked_name(const Call& call, Kind kind, const Spelling& spelling,
                     std::string_view canonical, std::string* name);

// Whether the kernel lets programs start that are in the folder `path` of the compartment's own
// home.
bool starts_programs(const Call& call, std::string_view path);

// calls/links.cc
// True where no symlink could lead to anything that the compartment may not read or write: audit
// runs, and policies that grant everything.
bool links_are_free(const Call& call);
// For a symlink that would stand at `link` (canonical) and say `target`: EACCES, journalled as a
// refused read or write, or (Asking::kYes) later() for a question, where that leads to what the
// policy does not let the compartment read, or where others could write through it what it may not;
// nullopt otherwise. By induction over the links that compartments make, it holds for what stands
// in the target's way later: docs/security-editor.md says for what not.
enum class Asking : uint8_t { kYes, kNo };
std::optional<Reply> refuse_link(Call& call, std::string_view link, std::string_view target,
                                 Asking asking = Asking::kYes);
// The same for every symlink in the tree that `folder` has as `name`, as if it stood at `to`.
// Nobody is asked. EXDEV for trees that are too large.
std::optional<Reply> refuse_moved_tree(Call& call, int folder, const char* name,
                                       std::string_view to);

// The canonical path that absolute `text` leads to, through the links that are there; from where
// nothing is, by the text alone. Links of /proc that jump lead elsewhere for each process: kept,
// they are what the path leads to.
enum class Magic : uint8_t { kKept, kFollowed };
std::string meaning(const Call& call, std::string text, Magic magic);

// True where the kernel would by itself grant `kind` on that path, and so may be told to go on.
inline bool kernel_may(const Call& call, Kind kind, std::string_view path) {
  return kernel_decides(call.service().plan, kind, path) && call.would_allow(kind, path);
}

}  // namespace bulkhead
