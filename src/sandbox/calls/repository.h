// What git does in a repository's hooks and settings that runs nothing later, though their names
// are blocked for writing: a repository is made and removed so, and a branch, a remote or a
// person's name is noted in it.
//
//   hooks            the folder is made, and removed when it is empty
//   hooks/x.sample   made anew and removed: git executes no hook of that name
//   config           changed as git changes it, by "config.lock" that is renamed, where what is
//   written
//                    names no program (policy/repository_config.h); removed where it names none
//
// What comes into place as settings is a copy that nobody inside could open, of the bytes that were
// judged. Everything else stays refused.
#pragma once

#include <optional>
#include <string>

#include "sandbox/calls/call.h"

namespace bulkhead {

enum class RepositoryPart : uint8_t { kNone, kHooks, kSample, kConfig };

// What `path` (canonical) is of a repository's, where the policy would let it be written if the
// built-in block of hooks and settings did not name it; kNone otherwise, and in audit runs.
RepositoryPart repository_part(const Call& call, const std::string& path);

// An entry of a folder, by the descriptor that was decided on.
struct EntryAt {
  int folder;
  const char* name;
  const std::string& path;  // canonical
};

// Before settings are removed: EACCES, journalled, where a program or another power is set in them;
// in the settings of the workspace itself also where the address of a remote is.
std::optional<Reply> refuse_config_removal(Call& call, const EntryAt& config);
// The rename of `lock` to `config`, of the very bytes that were judged.
Reply replace_config(Call& call, const EntryAt& lock, const EntryAt& config);

}  // namespace bulkhead
