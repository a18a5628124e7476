// What a process that is there for one compartment alone does to itself, and a library must not.
#pragma once

#include "sandbox/run/supervisor.h"

namespace bulkhead {

// From the program's start on this process has as many descriptors as it may: calls that wait hold
// some of ours, and whoever took them all would be watched no longer. Once the program runs, what
// only the start needed is given back. Keeps what `options` does at those moments already.
SupervisorOptions serving_alone(SupervisorOptions options);

}  // namespace bulkhead
