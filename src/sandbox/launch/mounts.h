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

#include "sandbox/launch/orders.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

// What init/mounts.cc does.
MountOrders<Written> prepare_mounts(const Plan& plan, bool as_root);

}  // namespace bulkhead
