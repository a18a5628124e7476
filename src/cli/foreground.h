// The process group in a terminal's foreground, as a question needs it: known, and still.
#pragma once

#include <sys/types.h>

#include "sandbox/run/stillness.h"

namespace bulkhead {

// True where the group is ours or one that a program of ours made. Where it is somebody else's,
// this run is in the background, and asking would disturb them.
bool is_ours(pid_t group);

// Who is to keep still at a question: the program's processes wherever they have gone, and whoever
// else is in our group or in the terminal's foreground (`| tee log`), with what they started. None
// of them may read an answer, write over a question or change the terminal; the kernel's own way
// (SIGTTIN, SIGTTOU) does not stop who ignores these signals, who has left the session, or an
// orphaned group. Left running: who started us, whom a shell would take for a job that its user has
// stopped, and other supervisors, which have a program and its limits to watch.
Generations processes_of_job(pid_t foreground);

}  // namespace bulkhead
