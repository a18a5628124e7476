// The user's own files of answers (grants.json, reviews.json): what changing one takes.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

// Makes the file's folder and waits for the lock, which is held until the result is closed. The
// file itself is replaced, so the lock is on another that stays.
Result<Fd> lock_beside(const std::string& file);

// "2026-01-31T12:00:00Z".
std::string timestamp_now();

}  // namespace bulkhead
