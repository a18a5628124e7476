// require(): what a fuzzer says of its subject; where it does not hold, the fuzzer has found
// something.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace bulkhead {

inline void require(bool holds, std::string_view what, std::string_view about = {}) {
  if (holds) return;
  std::cerr << "does not hold: " << what << (about.empty() ? "" : ": ") << about << '\n';
  std::abort();
}

}  // namespace bulkhead
