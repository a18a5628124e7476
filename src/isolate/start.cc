#include "isolate/start.h"

#include <dlfcn.h>

using Main = int(int, char**, char**);

// The names are the C library's; it is called by the program's first instructions.
extern "C" __attribute__((visibility("default"))) int __libc_start_main(  // NOLINT
    Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*loader_fini)(),
    void* stack_end) {
  (void)main;
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* const start = reinterpret_cast<Start*>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(bulkhead::worker_main, argc, argv, init, fini, loader_fini, stack_end);
}
