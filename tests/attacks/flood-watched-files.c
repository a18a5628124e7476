// Takes what a user has of inotify watches, so that the user's editor outside sees no file change any more.
// One more than half of them plainly: other tests run beside this one.
// class: OS sandboxes: using up what the user's other programs need
// plain: say
#include "attack.h"
#include <sys/inotify.h>

enum { INSTANCES = 31 };  // a compartment has 32

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char said[32] = {0};
  const int limit = open("/proc/sys/fs/inotify/max_user_watches", O_RDONLY | O_CLOEXEC);
  if (limit < 0 || read(limit, said, sizeof said - 1) <= 0) refused("max_user_watches");
  const int wanted = atoi(said) / 2 + 1, files = wanted / INSTANCES + 1;
  for (int i = 0; i < files; ++i) close(open(text("watched-%d", i), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  int taken = 0;
  for (int instance = 0; instance < INSTANCES && taken < wanted; ++instance) {
    const int fd = inotify_init1(IN_CLOEXEC);
    for (int i = 0; i < files && taken < wanted; ++i, ++taken) {
      if (inotify_add_watch(fd, text("watched-%d", i), IN_MODIFY) >= 0) continue;
      refused("inotify_add_watch");
      printf("%d watches of %s", taken, said);
      return 0;
    }
  }
  effect("%d watches of %s", taken, said);
  return 0;
}
