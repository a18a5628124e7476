// nlohmann/json.hpp, whose literal ""_json has each file that includes it compile a whole reader:
// two thirds of a second. Here that is a template, which nobody instantiates.
#pragma once

#include <cstddef>

// NOLINTNEXTLINE(bugprone-reserved-identifier)
#define _json(text, size) \
  _json(text, size);      \
  template <class>        \
  nlohmann::json read_literal(text, size)
#include <nlohmann/json.hpp>
#undef _json
