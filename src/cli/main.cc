// bulkhead: see verbs.cc for what it can do, one file of this folder for each verb.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "cli/closed_output.h"
#include "cli/verb.h"
#include "sandbox/limits/outcome.h"

namespace {

// A descriptor 0–2 that the caller closed would be given to the next file we open, such as the
// journal, and the program would inherit that as its standard input or output.
bool standard_descriptors_open() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) return false;
    if (fd == STDOUT_FILENO) bulkhead::note_closed_output();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!standard_descriptors_open()) return bulkhead::kExitFailed;
  try {
    return bulkhead::run_command_line(argc, argv);
  } catch (const std::exception& error) {
    // Only a bug or a machine without memory gets here; the compartment, if any, dies with us.
    std::fprintf(stderr, "bulkhead: internal error: %s\n", error.what());
    return bulkhead::kExitFailed;
  }
}
