// What `bulkhead run --dry-run` prints of a plan.
#pragma once

#include <string>

#include "base/nlohmann.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {

std::string plan_text(const Plan& plan);
nlohmann::json plan_json(const Plan& plan);

}  // namespace bulkhead
