// Bytes as text: two hexadecimal digits each, in lower case.
#pragma once

#include <span>
#include <string>

namespace bulkhead {

std::string hex(std::span<const unsigned char> bytes);

}  // namespace bulkhead
