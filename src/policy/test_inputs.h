// Helpers for the tests of src/policy: entries and inputs in a line.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policy/policy.h"

namespace bulkhead::testing {

inline std::vector<Entry> entries(std::initializer_list<const char*> texts) {
  std::vector<Entry> result;
  for (const char* text : texts)
    result.push_back({text, {"m.json", static_cast<int>(result.size()) + 1, 1, "list"}});
  return result;
}

// Variables that stand for places which do not exist, so that the machine's links play no part.
inline PolicyInputs inputs() {
  PolicyInputs result;
  result.variables.workspace = {"/no-such/ws"};
  result.variables.extension = "/no-such/ext";
  result.variables.storage = "/no-such/storage";
  result.variables.home = "/no-such/home";
  result.variables.config = "/no-such/home/.config/bulkhead";
  result.variables.state = "/no-such/home/.local/state/bulkhead";
  result.variables.runtime = "/no-such/run";
  return result;
}

inline Blocklist blocklist(Blocklist::Source source, BlockGroup group) {
  Blocklist result;
  result.source = source;
  result.groups.push_back(std::move(group));
  return result;
}

// The error's text. Whatever is wrong with a file, the finding says what to do about it.
inline std::string told(const Error& error) {
  for (const Diagnostic& each : error.diagnostics)
    EXPECT_TRUE(each.severity == Diagnostic::Severity::kNote || !each.fix.empty())
        << "no fix: " << to_string(each);
  return to_string(error);
}

inline std::shared_ptr<const Policy> compiled(const PolicyInputs& in) {
  auto result = Policy::compile(in);
  EXPECT_TRUE(result.ok()) << to_string(result.error());
  return result.ok() ? std::move(result).value() : nullptr;
}

inline std::string refused(const PolicyInputs& in) {
  const auto result = Policy::compile(in);
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : told(result.error());
}

}  // namespace bulkhead::testing
