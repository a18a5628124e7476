// Certificates: where the person's environment says which authorities programs are to trust (a
// company's proxy has one of its own), they can, without being granted it one by one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// Grants of those variables and of reading what they name, where that is certificates and no
// private key. `folder`: the working folder. `value_of`: getenv(3).
std::vector<Extra> certificate_grants(const std::string& folder,
                                      const std::function<const char*(const char*)>& value_of);

// Takes back those whose file the policy does not let be read: a block wins, and a variable that
// names what is not there breaks more than one that is missing. True where any was.
bool drop_blocked_certificates(const Policy& policy, std::vector<Extra>& extras);

}  // namespace bulkhead
