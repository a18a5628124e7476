// What a person's "always" or "never" is remembered as: entries of a manifest's language that say
// what the person was asked, and no more.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace bulkhead {

// What a yes to looking up a host is a yes to, where both are one question.
inline constexpr std::array<uint16_t, 2> kWebPorts = {443, 80};

// `detail`: Attempt::detail of what was asked. `with_web_ports`: a host's lookup and its
// connections to these are one question. An error where no entry says just that.
Result<std::vector<Extra>> kept_answer(Kind kind, const std::string& resource,
                                       std::string_view detail, bool yes, bool with_web_ports);

}  // namespace bulkhead
