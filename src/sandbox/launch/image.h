// The program of init, which this library carries within itself: nothing of a launch depends on a
// file of the machine or on what program the host is.
#pragma once

#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// A file in memory that holds `content` and that nobody can change any more; `executable` or never
// to be executed.
Result<Fd> sealed_file(const char* name, std::string_view content, bool executable);

// Such a file of bulkhead-init, close-on-exec and above 2: one for the whole process, which stays
// open. Thread-safe; made anew where somebody has closed it.
Result<int> init_image();

}  // namespace bulkhead
