#include "session/own_process.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

// Of the linker: where the program begins, and where its code ends.
extern "C" const char __executable_start, etext;  // NOLINT(bugprone-reserved-identifier)

namespace bulkhead {
namespace {

// The program has a limit of its own by now, and keeps it.
void raise_descriptors() {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  now.rlim_cur = now.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &now);
}

// The heap, and the code, which is read from the file again where it is needed after all
// (madvise(2), a private mapping that is not written).
void give_back_memory() {
  ::malloc_trim(0);
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(&__executable_start) & ~(page - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(&etext) & ~(page - 1);
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

SupervisorOptions serving_alone(SupervisorOptions options) {
  options.started = [before = std::move(options.started)](int proc, pid_t program) {
    raise_descriptors();
    if (before) before(proc, program);
  };
  options.settled = give_back_memory;
  return options;
}

}  // namespace bulkhead
