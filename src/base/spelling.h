// "did you mean": the word that a misspelt one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bulkhead {

// The nearest of `known`, at most two typing mistakes away and fewer than it has letters; empty
// where none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// For a finding's fix: `did you mean "read"?`, or else `known are "read", "write"`.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace bulkhead
