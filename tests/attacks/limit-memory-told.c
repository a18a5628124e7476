// Opens what tells of one descriptor many times: each keeps its text for as long as it is open, and that has a line for
// each of the files that the descriptor watches.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <sys/epoll.h>

enum { kWatched = 900, kOpen = 1800 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (most_descriptors() < kWatched + kOpen + 100) needs("many-descriptors");
  const int watcher = epoll_create1(EPOLL_CLOEXEC);
  int ends[2];
  if (watcher < 0 || pipe(ends) != 0) return 1;
  for (int i = 0; i < kWatched; ++i) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    if (epoll_ctl(watcher, EPOLL_CTL_ADD, dup(ends[0]), &event) != 0) return 1;
  }
  int kept = 0;
  char byte = 0;
  for (; kept < kOpen; ++kept) {
    const int teller = open(text("/proc/self/fdinfo/%d", watcher), O_RDONLY | O_CLOEXEC);
    if (teller < 0 || read(teller, &byte, 1) != 1) {
      refused("fdinfo");
      break;
    }
    nap(1);
  }
  nap(inside() ? 20000 : 0);  // as long as somebody who looks from time to time may need on a busy machine
  if (kept == kOpen) effect("%d texts with a line for each of %d files", kept, kWatched);
  return 0;
}
