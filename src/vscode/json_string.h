// JsonString: a tree of JSON as text. Compiled once, here: nlohmann's own costs each file that uses
// it one or two seconds. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bulkhead {

// Without spaces; bytes that are no UTF-8 become U+FFFD.
std::string json_string(const nlohmann::ordered_json& tree);
std::string json_string(const nlohmann::json& tree);

}  // namespace bulkhead
