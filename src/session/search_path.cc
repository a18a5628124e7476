#include "session/search_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/path.h"
#include "policy/homes.h"
#include "session/program.h"

namespace bulkhead {
namespace {

constexpr std::array<std::string_view, 5> kSystem = {"/usr", "/bin", "/sbin", "/nix/store",
                                                     "/gnu/store"};

// Of this user or of root, and nobody else's to write: others could put a program there.
bool is_trusted_folder(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         (status.st_uid == ::geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWOTH | S_IWGRP)) == 0;
}

bool may_be_toolchain(const std::string& path, const Variables& variables) {
  const auto holds = [&path](const std::string& folder) { return is_within(folder, path); };
  std::vector<std::string> homes = variables.other_homes;
  homes.push_back(variables.home);
  return is_trusted_folder(path) && why_no_project(path, homes).empty() &&
         std::none_of(variables.workspace.begin(), variables.workspace.end(), holds);
}

}  // namespace

std::vector<std::string> toolchains_in(const std::vector<std::string>& search_path,
                                       const Variables& variables) {
  std::set<std::string> found;
  for (const std::string& named : search_path) {
    const std::string folder = canonical_or_same(named);
    if (!is_canonical(folder) ||
        std::any_of(kSystem.begin(), kSystem.end(),
                    [&folder](std::string_view tree) { return is_within(folder, tree); }))
      continue;
    const std::string above(parent_of(folder));
    struct stat status = {};
    const bool whole = last_of(folder) == "bin" &&
                       ::stat(join(above, "lib").c_str(), &status) == 0 &&
                       may_be_toolchain(above, variables);
    if (whole)
      found.insert(above);
    else if (may_be_toolchain(folder, variables))
      found.insert(folder);
  }
  return {found.begin(), found.end()};
}

}  // namespace bulkhead
