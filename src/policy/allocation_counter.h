// For tests: how often this test program has allocated so far.
#pragma once

#include <cstddef>

namespace bulkhead::testing {

size_t allocations();

}  // namespace bulkhead::testing
