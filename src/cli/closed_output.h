// A standard output that was closed when we were started. main.cc opens /dev/null in its place,
// which must not make what a verb prints look written.
#pragma once

namespace bulkhead {

void note_closed_output();  // from here on print() fails

}  // namespace bulkhead
