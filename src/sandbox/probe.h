// What this kernel can enforce, found by trying it, never by its version.
#pragma once

#include <string>
#include <vector>

namespace bulkhead {

struct Feature {
  std::string name;       // "landlock-signal-scope"; stable, tests skip by it
  std::string what;       // what it is for, one sentence
  bool required = false;  // `run` refuses without it
  bool present = false;
  std::string detail;  // measured value ("ABI 7"), or why it is missing and how to get it
};

// Forks probes; takes a few milliseconds. In a stable order.
std::vector<Feature> probe_features();

}  // namespace bulkhead
