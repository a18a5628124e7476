// Remedies: the one command or option that mends it where this machine, or the container around
// this process, refuses namespaces and mounts.
#pragma once

#include <string>
#include <string_view>

namespace bulkhead {

inline constexpr std::string_view kContainerOptions =
    "a filter of system calls is in force, a container's mostly: start that with --security-opt "
    "seccomp=unconfined --security-opt systempaths=unconfined (docs/containers.md has less wide "
    "ones)";

// What may refuse them.
struct Refuser {
  bool filter = false;              // of system calls, a container's mostly
  std::string label;                // AppArmor's or SELinux's of this process
  bool apparmor_restricts = false;  // user namespaces are for programs with a profile (Ubuntu)
  std::string namespaces_of_users;  // kernel.unprivileged_userns_clone, where there is one (Debian)
  std::string most_namespaces;      // user.max_user_namespaces
  std::string ptrace_scope;         // kernel.yama.ptrace_scope, where there is one
  std::string program;              // this one
  bool profile_there = false;       // what the package brings, in /etc/apparmor.d
};
Refuser find_refuser();

std::string remedy_for_namespaces(const Refuser& refuser);
// Where reaching into a child of one's own is refused.
std::string remedy_for_reach(const Refuser& refuser);

}  // namespace bulkhead
