// A whole number as JavaScript gets it.
#pragma once

#include <node_api.h>

#include <cstdint>

namespace bulkhead {

inline napi_value number(napi_env env, int32_t value) {
  napi_value made = nullptr;
  napi_create_int32(env, value, &made);
  return made;
}

}  // namespace bulkhead
