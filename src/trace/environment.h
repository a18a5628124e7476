// Which variables a program may see at its start.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "trace/event.h"

namespace bulkhead {

struct GrantedEnvironment {
  std::vector<std::string> passed;  // NAME=value
  std::vector<Event> withheld;      // by name alone: the values are nobody's business
};

// `variables` is NULL-terminated like environ(7). `audit`: what the policy withholds is
// passed all the same, and told. `skip`, where given, names variables that are not the
// program's to begin with.
GrantedEnvironment grant_environment(const Policy& policy, char** variables, bool audit,
                                     const std::function<bool(std::string_view)>& skip = {});

}  // namespace bulkhead
