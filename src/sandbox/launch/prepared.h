// Prepared: a compartment whose program waits at its execve. All that takes time is done
// (processes, namespaces, mounts, Landlock, filter); what the program works on need not be known
// yet. A pool of these starts a program in a fraction of what launch() takes.
//
// Begun by answering `execve` as any other call: Server::start() takes it. What the policy grants
// is what stood there when it was prepared.
#pragma once

#include <optional>

#include "base/result.h"
#include "sandbox/kernel/notification.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

struct Prepared {
  Compartment compartment;  // its listener is taken
  std::optional<Listener> listener;
  Notification execve;
};

// As launch(); returns once the program waits.
Result<Prepared> prepare(const Plan& plan, const Meanwhile& meanwhile = {},
                         Parent* parent = nullptr);

// Makes `fd` the program's `number`, which is one that plan.stdio has as kGivenLater. Once more
// replaces it. The caller keeps its own. Takes a few microseconds.
Status give(Prepared& prepared, const Plan& plan, int number, int fd);

}  // namespace bulkhead
