// Inside: a bulkhead that was started in a compartment of another one.
#pragma once

namespace bulkhead {

// Whether this process is in a compartment. A program outside cannot bring us to believe so: the
// first process of the pid namespace would have to say it, which outside is the machine's own or a
// container's.
bool inside_compartment();

}  // namespace bulkhead
