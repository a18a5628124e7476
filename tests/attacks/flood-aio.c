// Takes what the machine has of asynchronous I/O requests (fs.aio-max-nr), so that databases outside get none.
// Half of them plainly: other tests run beside this one.
// class: OS sandboxes: using up what others need
// plain: say
// journal: system *io_setup*
#include "attack.h"
#include <linux/aio_abi.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char said[32] = "65536";
  const int limit = open("/proc/sys/fs/aio-max-nr", O_RDONLY | O_CLOEXEC);
  if (limit < 0 || read(limit, said, sizeof said - 1) <= 0) refused("aio-max-nr");
  aio_context_t context = 0;
  const unsigned wanted = (unsigned)atoi(said) / 2;
  if (syscall(SYS_io_setup, wanted, &context) == 0) effect("%u requests of %s", wanted, said);
  else refused("io_setup");
  return 0;
}
