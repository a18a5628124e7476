// weak(listener): references to objects that keep none of them, for the host's stand-ins
// (js/lib/weak.cjs).
#pragma once

#include <node_api.h>

namespace bulkhead {

napi_value weak(napi_env env, napi_callback_info info);

}  // namespace bulkhead
