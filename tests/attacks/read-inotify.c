// Watches a folder outside with inotify, which Landlock ignores: by path and by /proc.
// class: Node: watch; kernel: Landlock ignores inotify_add_watch
// plain: leak
// journal: read {OUTSIDE}/watched
#include "attack.h"
#include <poll.h>
#include <sys/inotify.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = inotify_init1(IN_NONBLOCK);
  const char* place = text("%s/watched", fact("OUTSIDE"));
  if (inotify_add_watch(fd, place, IN_ALL_EVENTS) < 0) refused("by path");
  const int folder = open(place, O_PATH);
  if (inotify_add_watch(fd, text("/proc/self/fd/%d", folder), IN_ALL_EVENTS) < 0) refused("by /proc");
  if (symlink(place, "watched-link") == 0 && inotify_add_watch(fd, "watched-link", IN_ALL_EVENTS) < 0) refused("by symlink");
  if (chdir(place) == 0 && inotify_add_watch(fd, ".", IN_ALL_EVENTS) < 0) refused("by working folder");
  for (int i = 0; i < 20; ++i) {
    struct pollfd wait_for = {fd, POLLIN, 0};
    if (poll(&wait_for, 1, 100) <= 0) continue;
    char events[8192];
    const ssize_t n = read(fd, events, sizeof events);
    if (n > 0) leak(events, (size_t)n);
  }
  return 0;
}
