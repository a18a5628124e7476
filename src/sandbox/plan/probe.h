// What this kernel can enforce, found by trying it, never by its version.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/kernel/landlock.h"

namespace bulkhead {

struct Feature {
  std::string name;       // "landlock-signal-scope"; stable, tests skip by it
  std::string what;       // what it is for, one sentence
  bool required = false;  // `run` refuses without it
  bool present = false;
  std::string detail;  // measured value ("ABI 7"), or why it is missing and how to get it
};

// Forks probes; takes a few milliseconds. In a stable order. `landlock`: another than the kernel's
// own is for tests of older ones.
std::vector<Feature> probe_features(const LandlockSupport& landlock = landlock_support());

// The error of a start that failed, at whatever step: with the required features that are missing,
// and what to do about the first (the others mostly follow from it).
Error with_what_is_missing(Error error);

// What serving a process takes, tried on one: taking its descriptors, reading and writing its
// memory, of which nothing changes. 0 or an errno.
int try_take_descriptor(pid_t process);
int try_take_of_thread(pid_t thread);
int try_reach_memory(pid_t process);
// The same of a listener: handing in a descriptor as a call's result.
int try_hand_in(int listener);

}  // namespace bulkhead
