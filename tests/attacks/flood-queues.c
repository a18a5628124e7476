// Takes the memory that a user has for POSIX message queues, so that the user's other programs can make none. Root
// has as much again for each user that it turns into, and all of it is counted for the one outside.
// Half of it plainly: other tests run beside this one.
// class: OS sandboxes: using up what the user's other programs need
// plain: say
#include "attack.h"
#include <mqueue.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct rlimit memory;
  getrlimit(RLIMIT_MSGQUEUE, &memory);
  if (memory.rlim_cur == RLIM_INFINITY) needs("queue-limit");
  struct mq_attr size = {.mq_maxmsg = 10, .mq_msgsize = 4096};
  const rlim_t each = (rlim_t)(size.mq_maxmsg * size.mq_msgsize), wanted = memory.rlim_cur / 2 / each + 1;
  const int root = getuid() == 0;
  rlim_t taken = 0;
  for (; taken < wanted; ++taken) {
    if (root && setresuid(20000 + (uid_t)taken, (uid_t)-1, (uid_t)-1) != 0) refused("setresuid");
    const char* name = text("/bulkhead-flood-%d-%d", (int)getpid(), (int)taken);
    if (mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &size) < 0) break;
    mq_unlink(name);  // the memory is taken for as long as it is open
  }
  if (taken == wanted) effect("%lu queues of %lu bytes", (unsigned long)taken, (unsigned long)each);
  else refused("mq_open");
  return 0;
}
