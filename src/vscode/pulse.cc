#include "vscode/pulse.h"

#include <algorithm>
#include <utility>

namespace bulkhead {

bool Pulse::beat(uint32_t oldest, bool excused) {
  const bool before = responds();
  const bool waits = oldest != 0 && oldest == std::exchange(oldest_, oldest);
  waited_ = !waits || (excused && before) ? 0 : std::min(waited_ + 1, kPatience);
  return responds() != before;
}

}  // namespace bulkhead
