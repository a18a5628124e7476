// The worker's process: a main of our own in the pinned Node's program, of which V8 is used and
// nothing else. This library is preloaded into that program (`bulkhead isolate`), and what the C
// library would call, Node's main, is left out.
#include <libplatform/libplatform.h>
#include <sys/random.h>
#include <unistd.h>
#include <v8.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "isolate/start.h"
#include "isolate/worker.h"

namespace bulkhead {
namespace {

// Besides the one that runs guests.
constexpr int kThreads = 1;

bool fill_randomly(unsigned char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = ::getrandom(bytes, size, 0);
    if (got < 0 && errno != EINTR) return false;
    if (got <= 0) continue;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

// What is left of the arguments is for Node, which refuses it where this library was not loaded.
int worker_main(int argc, char** argv, char**) {
  v8::V8::SetEntropySource(fill_randomly);
  v8::V8::SetFlagsFromCommandLine(&argc, argv, true);
  const std::unique_ptr<v8::Platform> platform = v8::platform::NewDefaultPlatform(kThreads);
  v8::V8::InitializePlatform(platform.get());
  v8::V8::Initialize();
  Worker worker(*platform);
  if (!worker.attach(STDIN_FILENO)) {
    std::fprintf(stderr, "bulkhead worker: no channel: %s\n", std::strerror(errno));
    std::_Exit(1);
  }
  worker.serve();
}

}  // namespace bulkhead
