// Mounts: what a compartment sees differently from its surroundings.
//
//   /tmp, /dev/shm   fresh, where the plan says so; granted paths below bound where they were, and
//                    what is kept from run to run
//   home             a folder of bulkhead's own, where the plan says so; see private_home.h
//   /dev/pts         a devpts of its own: nobody else's terminals
//   /dev/mqueue      the POSIX message queues of its own IPC namespace
//   /proc            of its own pid namespace; what configures the machine is read-only there
//   /sys, cgroups    read-only, wherever they are mounted: a compartment that could write a cgroup
//                    could leave its own, and its limits with it
//   resolv.conf      names the stub resolver
//   hidden paths     an empty folder or file
//
// What this does not stop: reading anything else. The root stays the machine's; Landlock and the
// supervisor decide.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/launch/step.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

// Prepared by the parent, which may allocate.
struct MountSetup {
  struct PrivateTree {
    std::string path;
    std::string options;               // of the tmpfs
    std::vector<KeptFolder> binds;     // below it; what is granted has its own path for a place
    std::vector<std::string> folders;  // to make for them, parents first
  };
  std::vector<PrivateTree> private_trees;
  std::shared_ptr<const PrivateHome> home;  // null: the machine's
  std::vector<std::string> hidden;
  std::vector<std::string> cgroups;  // hierarchies that are mounted outside of /sys
  std::string resolv_conf;           // canonical; empty where it needs no cover
  std::string devpts_options;        // empty: there is no /dev/pts
  bool cover_ptmx = false;           // /dev/ptmx is a device and no link into /dev/pts
  bool cover_queues = false;         // there is a /dev/mqueue, which may show the machine's
  std::string inotify_instances;     // at the most; empty with the next: no inotify
  std::string inotify_watches;
  bool as_root = false;  // all ids are mapped
};
MountSetup prepare_mounts(const Plan& plan, bool as_root);

// In init, single-threaded, async-signal-safe, with all capabilities in its user namespace, and in
// this order.
// Nothing that is mounted after it reaches the outside, and nothing mounted outside appears. Works
// before ids are mapped.
bool leave_outer_mounts(Failure& failure) noexcept;
// All that changes what a path outside of /proc leads to.
bool mount_trees(const MountSetup& setup, Failure& failure) noexcept;
// /proc, and what is read-only from then on.
bool mount_system(const MountSetup& setup, Failure& failure) noexcept;

// The folder of this IPC namespace's POSIX message queues (mq_overview(7)), attached nowhere; -1
// where the kernel has none. Like those above, takes capabilities and allocates nothing.
int open_queues() noexcept;

}  // namespace bulkhead
