// "did you mean": the word that a misspelt one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bulkhead {

// The nearest of `known`, at most two typing mistakes away and fewer than half of its letters;
// empty where none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// `did you mean "read"?`; empty where none of `known` is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

// For a finding's fix: the same, or else `known are "read", "write"`.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace bulkhead
