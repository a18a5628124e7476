// packets(): a pair of sockets for whole messages (src/trace/packets.h), for who keeps the journal
// of this process's sandboxes.
#pragma once

#include <node_api.h>

namespace bulkhead {

napi_value packets(napi_env env, napi_callback_info info);

}  // namespace bulkhead
