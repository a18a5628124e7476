// What of a user's git configuration (~/.gitconfig) an untrusted program's git may have: who they
// are and how they like their diffs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/git_reader.h"

namespace bulkhead {

inline constexpr size_t kMostGitSettings = size_t{256} << 10U;  // bytes

// All settings of a configuration, in their order. An error where git could not read it either.
// Pure.
Result<std::vector<GitSetting>> read_git_settings(std::string_view text);

// A configuration with those settings of `text` that are known to be harmless, written anew. What
// is not known is left out: credentials and their helpers, headers, addresses in which tokens stand
// (url.*.insteadOf), programs (aliases, editors, hooks, filters other than git-lfs as it installs
// itself) and further files (include). An error where git could not read it either.
//
// Names alone are judged: a token in user.name is handed out.
// Pure.
Result<std::string> harmless_git_settings(std::string_view text);

bool is_harmless_git_setting(const GitSetting& setting);

// Writes those of the user's own configuration in `home` (~/.config/git/config, ~/.gitconfig) to
// ~/.gitconfig in `store`, the private home of a compartment, in which nothing can be trusted: a
// link or a device by that name is replaced, never followed; a folder stays, and its git has no
// settings. Done at each start, so that the file says what the user's says, until a program there
// changes it (git config --global): then it is the program's. Settings of a configuration that git
// could not read are left out.
Status share_git_settings(const std::string& home, const std::string& store);

}  // namespace bulkhead
