// For tests: a network namespace with no sockets but the test's own.
#pragma once

#include <functional>

namespace bulkhead::testing {

// Runs it in a child, with loopback up; skips where there is no such namespace to be had.
void alone(const std::function<void(int diag)>& test);

}  // namespace bulkhead::testing
