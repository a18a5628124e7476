// What is noted of a program that asked whether it may write something, and was told that it may
// not: it has tried nothing.
#pragma once

#include <string_view>

namespace bulkhead {

inline constexpr std::string_view kOnlyAsked = "asked whether it may be written: it may not";

}  // namespace bulkhead
