// ServiceManager: the user's systemd, as far as we have something to ask of it. By sd-bus of
// libsystemd, which is opened where it is needed: linked, it would be two milliseconds of each
// start.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace bulkhead {

// Asks for a scope of that name whose cgroups are the caller's to arrange (Delegate=), with this
// process in it. That it has been accepted: the process is moved soon afterwards. Waits no longer
// than `until`.
Status start_own_scope(const std::string& name, std::chrono::steady_clock::time_point until);

}  // namespace bulkhead
