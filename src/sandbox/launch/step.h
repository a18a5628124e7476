// Step: which part of a compartment's setup failed, and on what. Used between clone and exec, where
// nothing may allocate.
#pragma once

#include <cerrno>
#include <cstddef>

namespace bulkhead {

struct Failure {
  const char* step = "";  // a literal: "mount /proc"
  const char* on = "";    // the path it was about; may be empty
  int error = 0;
};

// For `if (call(…) != 0) return failed(failure, "mount /proc");`: keeps errno, returns false.
inline bool failed(Failure& failure, const char* step, const char* on = "") noexcept {
  failure = {step, on, errno};
  return false;
}
inline bool failed_with(Failure& failure, int error, const char* step,
                        const char* on = "") noexcept {
  failure = {step, on, error};
  return false;
}

}  // namespace bulkhead
