// Which of the host's descriptors a program may get, and by which numbers.
#pragma once

#include <vector>

#include "base/result.h"
#include "sandbox/launch/orders.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

// An error names the descriptor, which is to be the program's `number`, and says why not.
Status may_be_given(int fd, int number);

// What init is told of the numbers; behind `descriptors` go those of ours that become them, in
// their order.
Result<std::vector<NumberOrder>> choose_numbers(const Stdio& stdio, std::vector<int>& descriptors);

}  // namespace bulkhead
