// Takes what a user has of inotify instances, so that the user's editor outside sees no file change any more.
// Half of them plainly: other tests run beside this one.
// class: OS sandboxes: using up what the user's other programs need
// plain: say
#include "attack.h"
#include <sys/inotify.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char said[32] = {0};
  const int limit = open("/proc/sys/fs/inotify/max_user_instances", O_RDONLY | O_CLOEXEC);
  if (limit < 0 || read(limit, said, sizeof said - 1) <= 0) refused("max_user_instances");
  const int wanted = atoi(said) / 2 + 1;
  most_descriptors();
  int taken = 0;
  while (taken < wanted && inotify_init1(IN_CLOEXEC) >= 0) ++taken;
  if (taken == wanted) effect("%d instances of %s", taken, said);
  else refused("inotify_init1");
  return 0;
}
