// The line that /proc/PID/stat and /proc/PID/task/TID/stat hold: "id (name) state …".
#pragma once

#include <string_view>

namespace bulkhead {

// From the state on; empty where there is none. The name, which is the process's to choose, may
// itself hold spaces and brackets.
inline std::string_view behind_name(std::string_view stat_line) {
  const size_t name_end = stat_line.rfind(')');
  if (name_end == std::string_view::npos || stat_line.size() < name_end + 2) return {};
  return stat_line.substr(name_end + 2);
}

}  // namespace bulkhead
