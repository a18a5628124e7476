// What a person was told before, so that it is told once.
#pragma once

#include <string>
#include <string_view>

namespace bulkhead {

// Whether this is the first time, and from now on no longer. The file holds nothing but hashes, of
// the latest thousand; where it cannot be kept, everything is told each time.
bool first_time(const std::string& file, std::string_view text);

}  // namespace bulkhead
