#include "sandbox/plan/remedy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <string_view>

namespace bulkhead {
namespace {

constexpr const char* kProfile = "/etc/apparmor.d/bulkhead";

// What comes after `before` in the first line of a file of /proc that begins so; empty where there
// is none.
std::string line_of(const char* path, std::string_view before = "") {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(before)) continue;
    while (line.ends_with('\0')) line.pop_back();  // SELinux ends its labels so
    return line.substr(before.size());
  }
  return {};
}

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

// A profile that allows namespaces and confines nothing, as the package's does.
std::string remedy_for_restriction(const Refuser& refuser) {
  constexpr std::string_view kWhy =
      "AppArmor lets only programs with a profile make namespaces, as on Ubuntu: ";
  if (refuser.profile_there &&
      (refuser.program == "/usr/bin/bulkhead" || refuser.program == "/usr/local/bin/bulkhead"))
    return fmt::format("{}sudo apparmor_parser --replace {}", kWhy, kProfile);
  // Neither the shell nor AppArmor, to which some of it would be a pattern, may read more into the
  // name.
  const auto is_plain = [](unsigned char letter) {
    return letter >= ' ' && letter != 0x7f &&
           std::string_view("'\"\\*?[]{}^@,#").find(static_cast<char>(letter)) ==
               std::string_view::npos;
  };
  if (refuser.program.empty() ||
      !std::all_of(refuser.program.begin(), refuser.program.end(), is_plain))
    return fmt::format("{}sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", kWhy);
  return fmt::format(
      "{}echo 'abi <abi/4.0>, profile bulkhead-own \"{}\" flags=(unconfined) {{ userns, }}' | sudo "
      "tee {}-own | sudo apparmor_parser --replace",
      kWhy, refuser.program, kProfile);
}

}  // namespace

Refuser find_refuser() {
  Refuser found;
  found.filter = line_of("/proc/self/status", "Seccomp:\t") == "2";
  found.label = line_of("/proc/self/attr/current");
  found.apparmor_restricts =
      line_of("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1";
  found.namespaces_of_users = line_of("/proc/sys/kernel/unprivileged_userns_clone");
  found.most_namespaces = line_of("/proc/sys/user/max_user_namespaces");
  found.ptrace_scope = line_of("/proc/sys/kernel/yama/ptrace_scope");
  found.program = own_path();
  found.profile_there = ::access(kProfile, F_OK) == 0;
  return found;
}

std::string remedy_for_namespaces(const Refuser& refuser) {
  if (refuser.filter) return std::string(kContainerOptions);
  constexpr std::string_view kEnforced = " (enforce)";
  if (refuser.label.ends_with(kEnforced))
    return fmt::format(
        "AppArmor's profile {} is in force, a container's mostly: start that with --security-opt "
        "apparmor=unconfined",
        refuser.label.substr(0, refuser.label.size() - kEnforced.size()));
  if (refuser.label.find(":container_t:") != std::string::npos)
    return "SELinux holds this container: start it with --security-opt label=disable";
  if (refuser.apparmor_restricts) return remedy_for_restriction(refuser);
  if (refuser.namespaces_of_users == "0")
    return "sudo sysctl -w kernel.unprivileged_userns_clone=1";
  if (refuser.most_namespaces == "0") return "sudo sysctl -w user.max_user_namespaces=15000";
  return "the kernel refuses namespaces to this process, as it does in a chroot";
}

std::string remedy_for_reach(const Refuser& refuser) {
  if (refuser.filter) return std::string(kContainerOptions);
  // Of all values this one alone stays until the machine starts anew.
  if (refuser.ptrace_scope == "3")
    return "kernel.yama.ptrace_scope is 3, which counts until a restart: set it to 1 where it is "
           "set (grep -r ptrace_scope /etc/sysctl.conf /etc/sysctl.d), and restart";
  if (refuser.ptrace_scope == "2") return "sudo sysctl -w kernel.yama.ptrace_scope=1";
  return "a security module refuses this process to reach into its children (with SELinux: sudo "
         "setsebool deny_ptrace off)";
}

}  // namespace bulkhead
