// Starting programs without a copy of the host: fork(2), and with it Node's own spawn(), copies the
// tables of all its memory, which holds a host of 1 GB for 57 ms.
#pragma once

#include <node_api.h>
#include <sys/types.h>

namespace bulkhead {

// spawn(words, environment, folder, descriptors): a process in a session of its own, with the
// program words[0], of a path, and descriptors[i] as its i (-1: /dev/null); its id, or an errno
// less than 0.
napi_value spawn(napi_env env, napi_callback_info info);

// isOver(id): whether that child has ended; it is no child any more then.
napi_value is_over(napi_env env, napi_callback_info info);

// Takes note of the child's end, whenever that is, so that it does not stay as a zombie.
void reap(pid_t child);

}  // namespace bulkhead
