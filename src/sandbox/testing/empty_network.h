// For tests: a network namespace with no sockets but the test's own.
#pragma once

#include <functional>

namespace bulkhead::testing {

// Runs it in a child, with loopback up; skips where there is no such namespace to be had.
void alone(const std::function<void(int diag)>& test);

// Until it is so: on a busy machine the kernel delivers what was sent some time later. False:
// never.
bool eventually(const std::function<bool()>& is_so);

}  // namespace bulkhead::testing
